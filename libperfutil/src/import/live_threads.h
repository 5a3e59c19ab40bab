// SPDX-License-Identifier: MIT
// Finds out when the processes of a recording end.
#ifndef PI_PERFUTIL_LIVE_THREADS_H
#define PI_PERFUTIL_LIVE_THREADS_H

#include <cstdint>
#include <map>
#include <optional>
#include <set>

#include "perf_event_table.h"
#include "perfutil.h"

namespace pi::perfutil {

// A process whose first thread has ended by pthread_exit() lasts as long as its other threads.
// Not thread-safe.
class LiveThreads {
 public:
  // Records must come in the order of time. Returns the end of a process, without its time.
  std::optional<pi_process_change> see(Bytes record);

 private:
  // True: the process has ended with this thread.
  bool end(uint32_t pid, uint32_t tid);

  struct Process {
    std::set<uint32_t> others;  // threads that are not its first one
    bool first_has_ended = false;
  };
  std::map<uint32_t, Process> processes_;  // by pid; no hash table, as a file chooses them
};

}  // namespace pi::perfutil

#endif  // PI_PERFUTIL_LIVE_THREADS_H
