// SPDX-License-Identifier: MIT
// The processes and threads of the HTML page, as numbers.
#include "html_owners.h"

namespace post {

uint32_t HtmlOwners::find(NameId process_label, const Origin& process, NameId label, uint32_t tid) {
  const auto [owner, new_process] = known_processes_.try_emplace(
      {process_label, process.process}, static_cast<uint32_t>(processes_.size()));
  if (new_process) processes_.push_back({process_label, process});
  const auto [thread, new_thread] =
      known_threads_.try_emplace({owner->second, label}, static_cast<uint32_t>(threads_.size()));
  if (new_thread) threads_.push_back({owner->second, label, tid});
  return thread->second;
}

uint32_t HtmlOwners::thread_of(const PathsByTime& paths, uint32_t place) {
  const CallTree& calls = paths.calls();
  const PathTree::Node& thread = calls.paths().node(place);
  const uint32_t process = calls.paths().node(thread.parent).value;
  return find(calls.process_label(process), calls.process(process), thread.value, paths.tid(place));
}

uint32_t HtmlOwners::thread_of(const OffCpu::Thread& thread) {
  return find(thread.process_label, {thread.process, thread.pid}, thread.thread_label, thread.tid);
}

}  // namespace post
