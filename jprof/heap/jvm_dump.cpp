// SPDX-License-Identifier: MIT
// The JVM's own heap dump, by its management bean HotSpotDiagnostic.
#include "heap/jvm_dump.h"

#include "return_codes.h"

namespace pi::jprof {
namespace {

// The pending exception as text, which is then no longer pending.
std::string take_exception(JNIEnv* jni) {
  const jthrowable thrown = jni->ExceptionOccurred();
  jni->ExceptionClear();
  std::string text = "an unknown error";
  if (!thrown) return text;
  const jclass type = jni->GetObjectClass(thrown);
  const jmethodID to_string = jni->GetMethodID(type, "toString", "()Ljava/lang/String;");
  const auto words =
      to_string ? static_cast<jstring>(jni->CallObjectMethod(thrown, to_string)) : nullptr;
  if (const char* chars = words ? jni->GetStringUTFChars(words, nullptr) : nullptr) {
    text = chars;
    jni->ReleaseStringUTFChars(words, chars);
  }
  if (jni->ExceptionCheck()) jni->ExceptionClear();
  return text;
}

jobject diagnostic_bean(JNIEnv* jni, jclass bean) {
  const jclass factory = jni->FindClass("java/lang/management/ManagementFactory");
  if (!factory) return nullptr;
  const jmethodID get =
      jni->GetStaticMethodID(factory, "getPlatformMXBean",
                             "(Ljava/lang/Class;)Ljava/lang/management/PlatformManagedObject;");
  return get ? jni->CallStaticObjectMethod(factory, get, bean) : nullptr;
}

}  // namespace

uint64_t used_heap(JNIEnv* jni) {
  const jclass type = jni->FindClass("java/lang/Runtime");
  const jmethodID get =
      type ? jni->GetStaticMethodID(type, "getRuntime", "()Ljava/lang/Runtime;") : nullptr;
  const jobject runtime = get ? jni->CallStaticObjectMethod(type, get) : nullptr;
  const jmethodID total = runtime ? jni->GetMethodID(type, "totalMemory", "()J") : nullptr;
  const jmethodID free = total ? jni->GetMethodID(type, "freeMemory", "()J") : nullptr;
  jlong used = 0;
  if (free) used = jni->CallLongMethod(runtime, total) - jni->CallLongMethod(runtime, free);
  if (jni->ExceptionCheck()) jni->ExceptionClear();
  return used > 0 ? static_cast<uint64_t>(used) : 0;
}

Status dump_heap(JNIEnv* jni, const std::string& path, bool live) {
  const jclass bean = jni->FindClass("com/sun/management/HotSpotDiagnosticMXBean");
  const jobject diagnostic = bean ? diagnostic_bean(jni, bean) : nullptr;
  if (!diagnostic) {
    if (jni->ExceptionCheck()) (void)take_exception(jni);
    return Error{no_events,
                 "this JVM runs without the module jdk.management, which dumps heaps; "
                 "--add-modules jdk.management adds it"};
  }
  const jmethodID dump = jni->GetMethodID(bean, "dumpHeap", "(Ljava/lang/String;Z)V");
  const jstring name = dump ? jni->NewStringUTF(path.c_str()) : nullptr;
  if (name) jni->CallVoidMethod(diagnostic, dump, name, static_cast<jboolean>(live));
  if (jni->ExceptionCheck()) return Error{no_logs, take_exception(jni)};
  return {};
}

}  // namespace pi::jprof
