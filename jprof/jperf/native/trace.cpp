// SPDX-License-Identifier: MIT
// Native methods: the trace.
#include <perfutil.h>

#include <array>
#include <string>
#include <vector>

#include "java_values.h"

namespace pi::jperf {
namespace {

// As call(), with one or two ints.
template <int (*function)(int)>
void call_int(JNIEnv* env, jclass, jint value) {
  (void)check(env, function(value));
}
template <int (*function)(uint32_t)>
void call_size(JNIEnv* env, jclass, jint value) {
  (void)check(env, function(static_cast<uint32_t>(value)));
}
template <int (*function)(int, int)>
void call_ints(JNIEnv* env, jclass, jint first, jint second) {
  (void)check(env, function(first, second));
}

void set_name(JNIEnv* env, jclass, jstring name) {
  const auto text = text_of(env, name);
  if (!env->ExceptionCheck()) (void)check(env, TraceSetName(text ? text->c_str() : nullptr));
}

jboolean query_major(JNIEnv* env, jclass, jint major) {
  const int state = TraceQueryMajor(major);
  return check(env, state) && state == 1;
}

void set_event(JNIEnv* env, jclass, jstring name, jlong count, jint privilege, jboolean random) {
  const auto text = text_of(env, name);
  if (env->ExceptionCheck()) return;
  (void)check(env, PiSetTprofEvent(text ? text->c_str() : nullptr, static_cast<uint64_t>(count),
                                   privilege, random));
}

// The code of a full buffer is a success: the trace can be written.
jboolean turn_off(JNIEnv* env, jclass) {
  const int rc = TraceOff();
  return rc != PU_ERROR_BUFFER_FULL && check(env, rc);
}

void write_file(JNIEnv* env, jclass, jstring name) {
  const auto text = text_of(env, name);
  if (!env->ExceptionCheck())
    (void)check(env, TraceWriteBufferToFile(text ? text->c_str() : nullptr));
}

jboolean is_on(JNIEnv*, jclass) {
  return IsTraceOn() == 1;
}

jboolean is_active(JNIEnv*, jclass) {
  return IsTraceActive() == 1;
}

jint interval_id(JNIEnv*, jclass) {
  return static_cast<jint>(TraceGetIntervalId());
}

jobjectArray cannot_see(JNIEnv* env, jclass) {
  std::vector<std::string> sentences;
  for (unsigned i = 0; const char* sentence = PiCannotSee(i); ++i) sentences.emplace_back(sentence);
  return array_of(env, sentences);
}

jlongArray counts(JNIEnv* env, jclass) {
  pi_trace_status status{};
  status.size = sizeof status;
  if (!check(env, PiTraceStatus(&status))) return nullptr;
  std::array<jlong, 6> values{};
  size_t at = 0;
  for (const auto& each : {status.trace, status.mte}) {
    uint64_t lost = 0;
    for (const uint64_t reason : each.lost) lost += reason;
    values[at++] = static_cast<jlong>(each.produced);
    values[at++] = static_cast<jlong>(each.written);
    values[at++] = static_cast<jlong>(lost);
  }
  return array_of(env, values);
}

}  // namespace

std::span<const JNINativeMethod> trace_methods() {
  static const std::array methods = {
      method("setSource", "(I)V", call_int<PiSetSource>),
      method("setScope", "(II)V", call_ints<TraceSetScope>),
      method("setMode", "(I)V", call_int<TraceSetMode>),
      method("setName", "(Ljava/lang/String;)V", set_name),
      method("setSectionSize", "(I)V", call_size<TraceSetSectionSize>),
      method("setMteSize", "(I)V", call_size<TraceSetMteSize>),
      method("traceInit", "(I)V", call_size<TraceInit>),
      method("traceEnable", "(I)V", call_int<TraceEnable>),
      method("traceDisable", "(I)V", call_int<TraceDisable>),
      method("traceQueryMajor", "(I)Z", query_major),
      method("setProfilerRate", "(I)V", call_int<SetProfilerRate>),
      method("setTprofEvent", "(Ljava/lang/String;JIZ)V", set_event),
      method("setStacks", "(II)V", call_ints<TraceSetStacks>),
      method("traceOn", "()V", call<TraceOn>),
      method("traceOff", "()Z", turn_off),
      method("traceSuspend", "()V", call<TraceSuspend>),
      method("traceResume", "()V", call<TraceResume>),
      method("traceDiscard", "()V", call<TraceDiscard>),
      method("traceTerminate", "()V", call<TraceTerminate>),
      method("traceWrite", "(Ljava/lang/String;)V", write_file),
      method("isTraceOn", "()Z", is_on),
      method("isTraceActive", "()Z", is_active),
      method("traceIntervalId", "()I", interval_id),
      method("cannotSee", "()[Ljava/lang/String;", cannot_see),
      method("traceCounts", "()[J", counts)};
  return methods;
}

}  // namespace pi::jperf
