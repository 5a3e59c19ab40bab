// SPDX-License-Identifier: MIT
// Conversions between Java values and those of C++, and exceptions.
#ifndef PI_JPERF_JAVA_VALUES_H
#define PI_JPERF_JAVA_VALUES_H

#include <jni.h>

#include <optional>
#include <span>
#include <string>
#include <vector>

namespace pi::jperf {

// Throws jperf.PerfException, unless one is pending.
void raise(JNIEnv* env, int code, const std::string& message);

// Throws if rc, of the call of libperfutil that has just returned, is an error. True if it is none.
bool check(JNIEnv* env, int rc);

// Nothing for null. Throws for a text with a NUL, which would end it.
std::optional<std::string> text_of(JNIEnv* env, jstring text);

// Null if an exception is pending.
jstring java_text(JNIEnv* env, const std::string& text);

jlongArray array_of(JNIEnv* env, std::span<const jlong> values);
jobjectArray array_of(JNIEnv* env, const std::vector<std::string>& texts);

// The native methods of one subject.
std::span<const JNINativeMethod> trace_methods();
std::span<const JNINativeMethod> thread_methods();
std::span<const JNINativeMethod> system_methods();
std::span<const JNINativeMethod> command_methods();

// A native method that calls a function of libperfutil without arguments.
template <int (*function)()>
void call(JNIEnv* env, jclass) {
  (void)check(env, function());
}

// A method of jperf.Native with its signature. JNI wants pointers without const.
template <class Function>
JNINativeMethod method(const char* name, const char* signature, Function* function) {
  return {const_cast<char*>(name), const_cast<char*>(signature), reinterpret_cast<void*>(function)};
}

}  // namespace pi::jperf

#endif  // PI_JPERF_JAVA_VALUES_H
