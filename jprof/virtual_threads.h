// SPDX-License-Identifier: MIT
// Which virtual thread a Java thread carries: HotSpot's events, and the names of virtual threads.
#ifndef PI_JPROF_VIRTUAL_THREADS_H
#define PI_JPROF_VIRTUAL_THREADS_H

#include <jvmti.h>

#include <atomic>
#include <string>

namespace pi::jprof {

// JVMTI has no such event. HotSpot of JDK 21 and later has two as extensions. The agent works with
// JVMs newer than the JDK whose headers it was built with, so nothing here is from newer headers.
class VirtualThreads {
 public:
  // Looks for the events and their capability. False in a JVM without virtual threads.
  bool prepare(jvmtiEnv* jvmti);
  // Only after prepare() returned true. The callbacks have the arguments (JNIEnv*, jthread).
  bool enable(jvmtiEnv* jvmti, jvmtiExtensionEvent mount, jvmtiExtensionEvent unmount) const;
  void disable(jvmtiEnv* jvmti) const;

  // Before the first name(). Needs a JVM that is initialised.
  void find_fields(JNIEnv* jni);
  // "#21", or "#21,name" for one with a name, as the JDK prints it; empty before find_fields().
  // The name is modified UTF-8.
  std::string name(JNIEnv* jni, jthread thread) const;

 private:
  jint mount_ = 0, unmount_ = 0;  // indices of the events
  jfieldID id_ = nullptr;
  std::atomic<jfieldID> name_ = nullptr;  // written last
};

}  // namespace pi::jprof

#endif  // PI_JPROF_VIRTUAL_THREADS_H
