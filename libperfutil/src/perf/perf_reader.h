// SPDX-License-Identifier: MIT
// The thread that waits for perf rings to fill, and calls a function that drains them.
#ifndef PI_PERFUTIL_PERF_READER_H
#define PI_PERFUTIL_PERF_READER_H

#include <atomic>
#include <functional>
#include <thread>

#include <pi/result.h>

#include "system/process_fd.h"

namespace pi::perfutil {

class PerfReader {
 public:
  using Work = std::function<void()>;

  ~PerfReader() { stop(); }

  // Before watch() and start(). PU_ERROR_NOT_ENOUGH_MEMORY.
  Status prepare();
  // From any thread; closing fd ends it.
  void watch(int fd);
  // Calls drain when a watched ring passes its mark, and at least every 100 ms, or every 10 ms
  // while set_waits(true); after it, once a second, each_second. Both run in the reader's thread.
  Status start(Work drain, Work each_second);
  // From any thread.
  void set_waits(bool waits) { waits_ = waits; }
  // Ends the thread and waits for it; repeated calls are harmless.
  void stop();

 private:
  void loop(const Work& drain, const Work& each_second);
  // Takes the rings of ended tasks off the list; false when asked to stop.
  bool wait();

  ProcessFd epoll_;
  ProcessFd stop_event_;
  std::atomic<bool> waits_ = false;
  std::thread thread_;
};

}  // namespace pi::perfutil

#endif  // PI_PERFUTIL_PERF_READER_H
