// SPDX-License-Identifier: MIT
// Stacks of Java threads by JVMTI, for JVMs without AsyncGetCallTrace.
#ifndef PI_JPROF_SAFEPOINT_STACKS_H
#define PI_JPROF_SAFEPOINT_STACKS_H

#include <jvmti.h>

#include <cstdint>
#include <functional>
#include <unordered_map>
#include <vector>

#include "scs/sample_buffers.h"
#include "thread_ids.h"

namespace pi::jprof {

// The JVM shows a running thread's stack at its next safepoint, not where it is. For one thread.
class SafepointStacks {
 public:
  static void add_capabilities(jvmtiCapabilities& capabilities);

  // period: nanoseconds of a thread's processor time.
  void start(uint64_t period, size_t frames);
  // Passes a sample of each thread that has used the processor for at least a period since its
  // sample before. To be called once a period, with local references for all threads.
  void sample(jvmtiEnv* jvmti, JNIEnv* jni, const std::function<void(const Sample&)>& take);

 private:
  uint32_t periods_of(jvmtiEnv* jvmti, jthread thread, uint32_t tid);

  uint64_t period_ = 0;
  size_t frames_ = 0;
  uint64_t round_ = 0;
  struct Known {
    uint64_t time;   // of the processor, that was sampled
    uint64_t round;  // the last one that found the thread
  };
  std::unordered_map<uint32_t, Known> known_;  // by thread
};

}  // namespace pi::jprof

#endif  // PI_JPROF_SAFEPOINT_STACKS_H
