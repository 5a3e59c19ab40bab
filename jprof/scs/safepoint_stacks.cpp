// SPDX-License-Identifier: MIT
// Stacks of Java threads by JVMTI, for JVMs without AsyncGetCallTrace.
#include "scs/safepoint_stacks.h"

#include "jvmti_memory.h"

namespace pi::jprof {

void SafepointStacks::add_capabilities(jvmtiCapabilities& capabilities) {
  capabilities.can_get_thread_cpu_time = 1;
}

void SafepointStacks::start(uint64_t period, size_t frames) {
  period_ = period;
  frames_ = frames;
  known_.clear();
}

// How many periods have passed since the thread's sample before.
uint32_t SafepointStacks::periods_of(jvmtiEnv* jvmti, jthread thread, uint32_t tid) {
  jlong nanoseconds = 0;
  if (jvmti->GetThreadCpuTime(thread, &nanoseconds) != JVMTI_ERROR_NONE) return 0;
  const auto now = static_cast<uint64_t>(nanoseconds);
  const auto [place, is_new] = known_.try_emplace(tid, Known{now, round_});
  Known& known = place->second;
  if (now < known.time) known.time = now;  // another thread with the same id
  known.round = round_;
  const uint64_t periods = (now - known.time) / period_;
  known.time += periods * period_;
  return static_cast<uint32_t>(periods);
}

void SafepointStacks::sample(jvmtiEnv* jvmti, JNIEnv* jni,
                             const std::function<void(const Sample&)>& take) {
  ++round_;
  jint count = 0;
  JvmtiMemory<jthread> threads(jvmti);
  const auto ids = ThreadIds::of_this_jvm(jni);
  if (!ids || jvmti->GetAllThreads(&count, threads.place()) != JVMTI_ERROR_NONE) return;
  std::vector<jvmtiFrameInfo> frames(frames_ + 1);
  for (jint i = 0; i < count; ++i) {
    const jthread thread = threads.get()[i];
    const auto tid = ids->find(jni, thread);
    const uint32_t periods = tid ? periods_of(jvmti, thread, *tid) : 0;
    jint found = 0;
    if (periods > 0 && jvmti->GetStackTrace(thread, 0, static_cast<jint>(frames.size()),
                                            frames.data(), &found) == JVMTI_ERROR_NONE) {
      std::vector<uint64_t> methods;
      for (jint k = 0; k < found; ++k)
        methods.push_back(reinterpret_cast<uint64_t>(frames[static_cast<size_t>(k)].method));
      take({*tid, periods, found, methods, {}});
    }
    jni->DeleteLocalRef(thread);
  }
  std::erase_if(known_, [this](const auto& known) { return known.second.round != round_; });
}

}  // namespace pi::jprof
