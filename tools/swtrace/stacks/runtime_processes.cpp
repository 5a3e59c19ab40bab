// SPDX-License-Identifier: MIT
// The processes with a runtime, by their ids.
#include "runtime_processes.h"

#include <fmt/format.h>

namespace pi::swtrace {
namespace {

constexpr size_t max_processes = 64;
constexpr size_t max_refused = 1 << 16;

}  // namespace

RuntimeProcess* RuntimeProcesses::of(uint32_t pid, const MappedRuntime& runtime) {
  const auto known = processes_.find(pid);
  if (known != processes_.end()) return known->second.process.get();
  if (processes_.size() >= max_processes)
    std::erase_if(processes_, [](const auto& entry) { return entry.second.ended; });
  if (processes_.size() >= max_processes) {
    if (refused_.size() < max_refused) refused_.insert(pid);
    return nullptr;
  }
  auto process =
      std::make_shared<RuntimeProcess>(fmt::format("{}/{}/mem", proc_, pid), runtime, names_);
  return processes_.emplace(pid, Entry{std::move(process)}).first->second.process.get();
}

void RuntimeProcesses::clear() {
  processes_.clear();
  lacking_ = {};
  refused_.clear();
}

void RuntimeProcesses::note_lacking(uint32_t pid, const RuntimeProcess& process) {
  const auto known = processes_.find(pid);
  if (!process.lacks_frames() || known == processes_.end() || known->second.is_noted) return;
  known->second.is_noted = true;
  if (lacking_.count++ == 0) lacking_.first = pid;
}

void RuntimeProcesses::end(uint32_t pid) {
  const auto known = processes_.find(pid);
  if (known == processes_.end()) return;
  known->second.process->end();
  known->second.ended = true;
}

}  // namespace pi::swtrace
