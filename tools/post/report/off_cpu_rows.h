// SPDX-License-Identifier: MIT
// Makes the rows of the off-CPU report, sorted and clipped.
#ifndef POST_OFF_CPU_ROWS_H
#define POST_OFF_CPU_ROWS_H

#include <cstdint>
#include <string>
#include <vector>

#include "analysis/off_cpu.h"

namespace post {

// Times blocked that ended with a wake-up by the same chain of wakers.
struct WakerRow {
  std::vector<std::string> chain;  // the waker, then its waker, and so on
  uint64_t count = 0;
  uint64_t blocked = 0;
};

struct WaitRow {
  LeaveReason reason = 0;
  std::vector<std::string> frames;  // from the innermost
  std::vector<bool> guessed;        // the same: it is a guess
  WaitTimes times;
  std::vector<WakerRow> wakers;  // by time blocked, then names
};

// A thread, or all threads of the same name.
struct ThreadRow {
  std::string process;
  std::string thread;
  ThreadTimes times;
  std::vector<WaitRow> waits;  // by time, then frames

  uint64_t off() const { return times.runnable + times.blocked; }
};

// By time without processor, then names. Omits threads and waits with less than clip nanoseconds in
// all, and wakers of the other waits with less.
std::vector<ThreadRow> make_thread_rows(const OffCpu& off_cpu, const StringTable& names,
                                        uint64_t clip);

}  // namespace post

#endif  // POST_OFF_CPU_ROWS_H
