// SPDX-License-Identifier: MIT
// Kernel ids of Java threads that started before JProf.
#ifndef PI_JPROF_THREAD_IDS_H
#define PI_JPROF_THREAD_IDS_H

#include <jvmti.h>

#include <cstdint>
#include <map>
#include <optional>
#include <string>

namespace pi::jprof {

// No interface of a JVM returns the kernel id of another thread. HotSpot describes its structures
// for debuggers (gHotSpotVMStructs); the id is found with these descriptions.
class ThreadIds {
 public:
  // Nothing for a JVM that is not HotSpot, or one with other structures.
  static std::optional<ThreadIds> of_this_jvm(JNIEnv* jni);

  // Nothing for a thread that is ending.
  std::optional<uint32_t> find(JNIEnv* jni, jthread thread) const;

 private:
  jfieldID native_thread_ = nullptr;  // java.lang.Thread.eetop: the address of HotSpot's own object
  uint64_t os_thread_ = 0;            // offsets in bytes
  uint64_t thread_id_ = 0;
};

// The names of all threads that run, by their kernel ids; empty if these are not known.
std::map<uint32_t, std::string> live_threads(JavaVM* vm, jvmtiEnv* jvmti, JNIEnv* jni);

}  // namespace pi::jprof

#endif  // PI_JPROF_THREAD_IDS_H
