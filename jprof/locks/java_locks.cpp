// SPDX-License-Identifier: MIT
// java.lang.PitraceLocks, which counts, as seen from the agent.
#include "locks/java_locks.h"

#include <string>
#include <utility>
#include <vector>

#include "log_text.h"
#include "return_codes.h"

namespace pi::jprof {
namespace {

// The array of PitraceLocks.counts(): its beginning, and the numbers of each monitor.
constexpr size_t first_values = 3, values_each = 5;

uint64_t amount(jlong value) {
  return value < 0 ? 0 : static_cast<uint64_t>(value);
}

std::string text_of(JNIEnv* jni, jstring string) {
  const char* const text = jni->GetStringUTFChars(string, nullptr);
  if (!text) return "?";
  std::string name = log_name(text);
  jni->ReleaseStringUTFChars(string, text);
  return name;
}

}  // namespace

jmethodID JavaLocks::find(JNIEnv* jni, const char* name, const char* signature) const {
  return jni->ExceptionCheck() ? nullptr : jni->GetStaticMethodID(type_, name, signature);
}

template <class... Arguments>
bool JavaLocks::call(JNIEnv* jni, jmethodID method, Arguments... arguments) const {
  jni->CallStaticVoidMethod(type_, method, arguments...);
  if (!jni->ExceptionCheck()) return true;
  jni->ExceptionClear();
  return false;
}

Status JavaLocks::prepare(JNIEnv* jni, const std::atomic<int64_t>& gc_time) {
  const Error failure{no_events, "the class of the lock monitor cannot be used in this JVM"};
  const jclass found = jni->FindClass("java/lang/PitraceLocks");
  if (!found) return jni->ExceptionClear(), failure;
  type_ = static_cast<jclass>(jni->NewGlobalRef(found));
  jni->DeleteLocalRef(found);
  const jmethodID prepare = find(jni, "prepare", "(J)V");
  ignore_ = find(jni, "ignore", "(Z)V");
  start_ = find(jni, "start", "(I)V");
  stop_ = find(jni, "stop", "()V");
  reset_ = find(jni, "reset", "()V");
  counts_ = find(jni, "counts", "()[Ljava/lang/Object;");
  if (prepare && counts_)
    jni->CallStaticVoidMethod(type_, prepare, reinterpret_cast<jlong>(&gc_time));
  if (!jni->ExceptionCheck()) return {};
  jni->ExceptionDescribe();
  jni->ExceptionClear();
  return failure;
}

void JavaLocks::start(JNIEnv* jni, Locks kind) const {
  call(jni, start_, jint{kind == Locks::counts_and_times ? 2 : 1});
}

void JavaLocks::stop(JNIEnv* jni) const {
  call(jni, stop_);
}

void JavaLocks::reset(JNIEnv* jni) const {
  call(jni, reset_);
}

Result<LockTotals> JavaLocks::counts(JNIEnv* jni) const {
  const auto both = static_cast<jobjectArray>(jni->CallStaticObjectMethod(type_, counts_));
  if (jni->ExceptionCheck()) {
    jni->ExceptionClear();
    return Error{no_logs, "the JVM has no memory for the report of the lock monitor"};
  }
  const auto names = static_cast<jobjectArray>(jni->GetObjectArrayElement(both, 0));
  const auto array = static_cast<jlongArray>(jni->GetObjectArrayElement(both, 1));
  std::vector<jlong> values(static_cast<size_t>(jni->GetArrayLength(array)));
  jni->GetLongArrayRegion(array, 0, static_cast<jsize>(values.size()), values.data());
  LockTotals totals;
  totals.interval = amount(values[0]);
  totals.gc = amount(values[1]);
  totals.lost = amount(values[2]);
  const jsize count = jni->GetArrayLength(names);
  for (jsize i = 0; i < count; ++i) {
    const jlong* const row = &values[first_values + values_each * static_cast<size_t>(i)];
    const auto name = static_cast<jstring>(jni->GetObjectArrayElement(names, i));
    const bool is_class = row[1] != 0;
    totals.monitors.push_back({text_of(jni, name), is_class ? 0 : static_cast<uint32_t>(row[0]),
                               is_class, amount(row[2]), amount(row[3]), amount(row[4])});
    jni->DeleteLocalRef(name);
  }
  for (const jobject object : {jobject(both), jobject(names), jobject(array)})
    jni->DeleteLocalRef(object);
  return totals;
}

JavaLocks::Ignored::Ignored(const JavaLocks& locks, JNIEnv* jni)
    : locks_(locks), jni_(jni), begun_(locks_.call(jni_, locks_.ignore_, jboolean{JNI_TRUE})) {}

JavaLocks::Ignored::~Ignored() {
  if (begun_) locks_.call(jni_, locks_.ignore_, jboolean{JNI_FALSE});
}

}  // namespace pi::jprof
