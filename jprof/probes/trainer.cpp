// SPDX-License-Identifier: MIT
// Calls Java methods that do nothing: what is measured in them is overhead of the probes.
#include "probes/trainer.h"

#include <chrono>
#include <string>

namespace pi::jprof {
namespace {

// Of HotSpot: a method is compiled after 200 calls, and optimised after 5,000 more. If reading the
// metrics takes so long that these would delay the program, fewer have to suffice.
constexpr int interpreted_rounds = 48;
constexpr int compiled_rounds = 12'000, fewest_compiled_rounds = 1024;
constexpr std::chrono::milliseconds longest{200};  // for the rounds after the fewest, of each root

// Kinds as in Trainer.java.
constexpr int kinds = 4;
constexpr int is_static = 1;
constexpr int is_compiled = 2;
constexpr const char* static_signature = "(Lpitrace/Trained;)V";

// False after a Java exception.
bool call_root(JNIEnv* jni, jclass type, jobject object, int kind) {
  const std::string name = "root" + std::to_string(kind);
  const bool of_class = (kind & is_static) != 0;
  const jmethodID root = of_class ? jni->GetStaticMethodID(type, name.c_str(), static_signature)
                                  : jni->GetMethodID(type, name.c_str(), "()V");
  if (!root) return false;
  const int rounds = (kind & is_compiled) != 0 ? compiled_rounds : interpreted_rounds;
  auto end = std::chrono::steady_clock::time_point::max();
  for (int i = 0; i < rounds; ++i) {
    if (i % fewest_compiled_rounds == 0 && i > 0) {
      const auto now = std::chrono::steady_clock::now();
      if (i == fewest_compiled_rounds) end = now + longest;
      if (now > end) break;
    }
    if (of_class)
      jni->CallStaticVoidMethod(type, root, object);
    else
      jni->CallVoidMethod(object, root);
    if (jni->ExceptionCheck()) return false;
  }
  return true;
}

}  // namespace

Status train(JNIEnv* jni, jclass type) {
  const jobject object = jni->AllocObject(type);
  bool good = object != nullptr;
  for (int kind = 0; good && kind < kinds; ++kind) good = call_root(jni, type, object, kind);
  if (object) jni->DeleteLocalRef(object);
  if (good) return {};
  jni->ExceptionClear();
  return Error{1, "the methods that measure the cost of probes failed in this JVM"};
}

}  // namespace pi::jprof
