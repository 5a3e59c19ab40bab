// SPDX-License-Identifier: MIT
// Finds out when the processes of a recording end.
#include "live_threads.h"

#include <linux/perf_event.h>

namespace pi::perfutil {
namespace {

// Of records of threads, behind their head: COMM has pid and tid; FORK and EXIT have pid, parent's
// pid, tid.
constexpr size_t pid_at = sizeof(perf_event_header), second_at = pid_at + 4, tid_at = pid_at + 8,
                 least_bytes = pid_at + 12;

}  // namespace

bool LiveThreads::end(uint32_t pid, uint32_t tid) {
  const auto place = processes_.find(pid);
  if (place == processes_.end()) return tid == pid;
  Process& process = place->second;
  process.others.erase(tid);
  process.first_has_ended |= tid == pid;
  if (!process.others.empty()) return false;
  const bool has_ended = process.first_has_ended;
  processes_.erase(place);
  return has_ended;
}

std::optional<pi_process_change> LiveThreads::see(Bytes record) {
  if (record.size() < least_bytes) return std::nullopt;
  const auto head = number_at<perf_event_header>(record, 0);
  const auto pid = number_at<uint32_t>(record, pid_at),
             second = number_at<uint32_t>(record, second_at),
             tid = number_at<uint32_t>(record, tid_at);
  if (head.type == PERF_RECORD_EXIT) {
    if (!end(pid, tid)) return std::nullopt;
    pi_process_change change{};
    change.kind = PI_PROCESS_ENDED;
    change.pid = pid;
    return change;
  }
  const bool is_exec =
      head.type == PERF_RECORD_COMM && (head.misc & PERF_RECORD_MISC_COMM_EXEC) != 0;
  // A program that is executed has one thread. Another process can get the number of one whose end
  // was lost.
  if (is_exec || (head.type == PERF_RECORD_FORK && pid != second))
    processes_.erase(pid);
  else if (head.type == PERF_RECORD_FORK)
    processes_[pid].others.insert(tid);
  else if (head.type == PERF_RECORD_COMM && second != pid)
    processes_[pid].others.insert(second);
  return std::nullopt;
}

}  // namespace pi::perfutil
