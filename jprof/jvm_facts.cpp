// SPDX-License-Identifier: MIT
// Names that a JVM returns: its own, and those of threads.
#include "jvm_facts.h"

#include "jvmti_memory.h"

namespace pi::jprof {

std::string jvm_property(jvmtiEnv* jvmti, const char* name) {
  JvmtiMemory<char> value(jvmti);
  if (jvmti->GetSystemProperty(name, value.place()) != JVMTI_ERROR_NONE) return {};
  return value.get();
}

std::string jvm_name(jvmtiEnv* jvmti) {
  std::string name;
  for (const char* property : {"java.vm.name", "java.vm.version"}) {
    const std::string value = jvm_property(jvmti, property);
    if (!value.empty()) name += (name.empty() ? "" : " ") + value;
  }
  return name.empty() ? "?" : name;
}

std::optional<std::string> thread_name(JavaVM* vm, jvmtiEnv* jvmti, jthread thread) {
  jvmtiThreadInfo info{};
  if (jvmti->GetThreadInfo(thread, &info) != JVMTI_ERROR_NONE) return std::nullopt;
  std::string name = info.name ? info.name : "";
  jvmti->Deallocate(reinterpret_cast<unsigned char*>(info.name));
  void* jni = nullptr;
  if (vm->GetEnv(&jni, JNI_VERSION_1_6) == JNI_OK)
    for (const jobject reference : {info.thread_group, info.context_class_loader})
      static_cast<JNIEnv*>(jni)->DeleteLocalRef(reference);
  return name;
}

}  // namespace pi::jprof
