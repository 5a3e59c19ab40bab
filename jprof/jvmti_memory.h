// SPDX-License-Identifier: MIT
// Owns memory that the JVM allocated for this agent.
#ifndef PI_JPROF_JVMTI_MEMORY_H
#define PI_JPROF_JVMTI_MEMORY_H

#include <jvmti.h>

namespace pi::jprof {

template <class T>
class JvmtiMemory {
 public:
  explicit JvmtiMemory(jvmtiEnv* jvmti) : jvmti_(jvmti) {}
  ~JvmtiMemory() {
    if (memory_) jvmti_->Deallocate(reinterpret_cast<unsigned char*>(memory_));
  }
  JvmtiMemory(const JvmtiMemory&) = delete;
  JvmtiMemory& operator=(const JvmtiMemory&) = delete;

  // Where a JVMTI function stores its result. To be used once.
  T** place() { return &memory_; }
  T* get() const { return memory_; }

 private:
  jvmtiEnv* jvmti_;
  T* memory_ = nullptr;
};

}  // namespace pi::jprof

#endif  // PI_JPROF_JVMTI_MEMORY_H
