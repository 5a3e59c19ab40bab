// SPDX-License-Identifier: MIT
// The methods that a thread is running at its first event of a recording.
#ifndef PI_JPROF_INITIAL_FRAMES_H
#define PI_JPROF_INITIAL_FRAMES_H

#include <jvmti.h>

#include <cstddef>
#include <cstdint>
#include <span>

#include "probes/method_list.h"

namespace pi::jprof {

class InitialFrames {
 public:
  void prepare(JavaVM* vm, jvmtiEnv* jvmti, const MethodList& methods);

  // Writes the ids of the calling thread's methods whose exits will be events, outermost first;
  // of a deeper stack the innermost ones. Returns how many. Called inside the thread's first event.
  size_t find(std::span<uint64_t> ids) const;

 private:
  // How many frames at the top are not yet entered: the probe, and the method that it is entering.
  size_t not_entered(std::span<const jvmtiFrameInfo> frames) const;
  // 0: its exit is no event.
  uint64_t id_of(jmethodID method) const;

  JavaVM* vm_ = nullptr;
  jvmtiEnv* jvmti_ = nullptr;
  const MethodList* methods_ = nullptr;
};

}  // namespace pi::jprof

#endif  // PI_JPROF_INITIAL_FRAMES_H
