// SPDX-License-Identifier: MIT
// Stacks of Java threads at any moment of their execution: by a signal and AsyncGetCallTrace.
#ifndef PI_JPROF_ASYNC_STACKS_H
#define PI_JPROF_ASYNC_STACKS_H

#include <jvmti.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include <pi/result.h>

#include "scs/cpu_timers.h"
#include "scs/native_capture.h"
#include "scs/sample_buffers.h"

namespace pi::jprof {

// One object: signals belong to the process.
class AsyncStacks {
 public:
  static AsyncStacks& get();

  // Whether the JVM has the function.
  static bool is_supported();

  // vm must exist until the process ends. frames: the most of one stack; deeper ones have one frame
  // more. java_code: samples elsewhere get a capture; nothing: none does. Then timers() have to be
  // added.
  Status start(JavaVM* vm, uint64_t period, size_t frames,
               const std::optional<CodeRange>& java_code);
  // No signal handler reads a stack after this.
  void stop();
  CpuTimers& timers() { return timers_; }

  // One thread at a time.
  void drain(const std::function<void(const Sample&)>& take) { buffers_.drain(take); }
  uint64_t take_lost() { return buffers_.take_lost(); }

  // Why a sample has no frames.
  static std::string reason(int32_t outcome);

 private:
  AsyncStacks() = default;
  Status install_handler();

  CpuTimers timers_;
  SampleBuffers buffers_;
};

}  // namespace pi::jprof

#endif  // PI_JPROF_ASYNC_STACKS_H
