// SPDX-License-Identifier: MIT
// libjperf.so: registers the native methods of jperf.Native when the JVM loads it. Registered
// methods are linked already at their first call, which ITrace would otherwise trace.
#include <array>

#include "java_values.h"

namespace {

jstring version(JNIEnv* env, jclass) {
  return env->NewStringUTF(JPERF_VERSION);
}

}  // namespace

extern "C" JNIEXPORT jint JNICALL JNI_OnLoad(JavaVM* vm, void*) {
  void* environment = nullptr;
  if (vm->GetEnv(&environment, JNI_VERSION_1_8) != JNI_OK) return JNI_ERR;
  auto* env = static_cast<JNIEnv*>(environment);
  const jclass type = env->FindClass("jperf/Native");
  if (!type) return JNI_ERR;
  const std::array own = {pi::jperf::method("version", "()Ljava/lang/String;", version)};
  for (const auto methods :
       {std::span<const JNINativeMethod>(own), pi::jperf::trace_methods(),
        pi::jperf::thread_methods(), pi::jperf::system_methods(), pi::jperf::command_methods()})
    if (env->RegisterNatives(type, methods.data(), static_cast<jint>(methods.size())) != JNI_OK)
      return JNI_ERR;
  return JNI_VERSION_1_8;
}
