// SPDX-License-Identifier: MIT
// Conversions between Java values and those of C++, and exceptions.
#include "java_values.h"

#include <perfutil.h>
#include <pi/java_text.h>

namespace pi::jperf {

void raise(JNIEnv* env, int code, const std::string& message) {
  if (env->ExceptionCheck()) return;
  const jclass type = env->FindClass("jperf/PerfException");
  if (!type) return;
  const jmethodID create = env->GetMethodID(type, "<init>", "(ILjava/lang/String;)V");
  const jstring text = create ? java_text(env, message) : nullptr;
  if (!text) return;
  const jobject exception = env->NewObject(type, create, jint{code}, text);
  if (exception) (void)env->Throw(static_cast<jthrowable>(exception));
}

bool check(JNIEnv* env, int rc) {
  if (rc >= PU_SUCCESS) return true;
  const char* text = PiErrorText();
  raise(env, rc, *text ? text : RcToString(rc));
  return false;
}

std::optional<std::string> text_of(JNIEnv* env, jstring text) {
  if (!text) return std::nullopt;
  const char* bytes = env->GetStringUTFChars(text, nullptr);
  if (!bytes) return std::nullopt;
  std::string copy = plain_utf8(bytes);
  env->ReleaseStringUTFChars(text, bytes);
  if (copy.find('\0') == copy.npos) return copy;
  raise(env, PU_ERROR_INVALID_PARAMETER, "A name or command contains the character NUL.");
  return std::nullopt;
}

jstring java_text(JNIEnv* env, const std::string& text) {
  return env->NewStringUTF(modified_utf8(text).c_str());
}

jlongArray array_of(JNIEnv* env, std::span<const jlong> values) {
  const auto size = static_cast<jsize>(values.size());
  const jlongArray array = env->NewLongArray(size);
  if (array) env->SetLongArrayRegion(array, 0, size, values.data());
  return array;
}

jobjectArray array_of(JNIEnv* env, const std::vector<std::string>& texts) {
  const jclass type = env->FindClass("java/lang/String");
  const jobjectArray array =
      type ? env->NewObjectArray(static_cast<jsize>(texts.size()), type, nullptr) : nullptr;
  for (size_t i = 0; array && i < texts.size(); ++i) {
    const jstring text = java_text(env, texts[i]);
    if (!text) return nullptr;
    env->SetObjectArrayElement(array, static_cast<jsize>(i), text);
    env->DeleteLocalRef(text);
  }
  return array;
}

}  // namespace pi::jperf
