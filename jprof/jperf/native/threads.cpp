// SPDX-License-Identifier: MIT
// Native methods: user hooks, ITrace and PTT, which apply to the calling thread.
#include <perfutil.h>
#include <perfutil_ptt.h>

#include <array>
#include <cstddef>
#include <string>
#include <vector>

#include "java_values.h"

namespace pi::jperf {
namespace {

// Copies on the stack: no allocation, and no critical section of the JVM.
jint hook(JNIEnv* env, jclass, jint major, jint minor, jintArray ints, jint count,
          jobjectArray strings) {
  std::array<uint32_t, PI_HOOK_INTS_MAX> values;
  std::array<std::byte, PI_HOOK_BYTES_MAX> bytes;
  std::array<pi_hook_string, PI_HOOK_STRINGS_MAX> parts;
  const jsize string_count = env->GetArrayLength(strings);
  if (count > PI_HOOK_INTS_MAX || string_count > PI_HOOK_STRINGS_MAX) return PU_ERROR_HOOK_TOO_LONG;
  env->GetIntArrayRegion(ints, 0, count, reinterpret_cast<jint*>(values.data()));
  size_t used = 0;
  for (jsize i = 0; i < string_count; ++i) {
    const auto part = static_cast<jbyteArray>(env->GetObjectArrayElement(strings, i));
    const auto length = static_cast<size_t>(env->GetArrayLength(part));
    if (length > bytes.size() - used) return PU_ERROR_HOOK_TOO_LONG;
    env->GetByteArrayRegion(part, 0, static_cast<jsize>(length),
                            reinterpret_cast<jbyte*>(bytes.data() + used));
    parts[static_cast<size_t>(i)] = {bytes.data() + used, length};
    used += length;
    env->DeleteLocalRef(part);
  }
  return PiTraceHook(static_cast<uint32_t>(major), static_cast<uint32_t>(minor), values.data(),
                     static_cast<uint32_t>(count), parts.data(),
                     static_cast<uint32_t>(string_count));
}

jint hook_interval(JNIEnv*, jclass) {
  return static_cast<jint>(PiTraceHookInterval());
}

// ---- ITrace ----

void itrace_init(JNIEnv* env, jclass, jint flags, jint threads, jint reserve) {
  (void)check(env,
              PiITraceInit(flags, static_cast<uint32_t>(threads), static_cast<uint32_t>(reserve)));
}

// The return to Java is traced, so it is short: nothing is checked after a success.
void itrace_on(JNIEnv* env, jclass) {
  const int rc = ITraceOn();
  if (rc != PU_SUCCESS) [[unlikely]]
    (void)check(env, rc);
}

void itrace_off(JNIEnv* env, jclass) {
  (void)check(env, ITraceOff());
}

void itrace_enable_pid(JNIEnv* env, jclass, jint pid) {
  (void)check(env, ITraceEnablePid(pid));
}

jlongArray itrace_status(JNIEnv* env, jclass) {
  pi_itrace_status status{};
  status.size = sizeof status;
  if (!check(env, PiITraceStatus(&status))) return nullptr;
  const std::array<jlong, 9> values = {status.installed,
                                       status.on,
                                       status.flags,
                                       status.how,
                                       status.threads,
                                       status.untraced,
                                       static_cast<jlong>(status.steps),
                                       static_cast<jlong>(status.branches),
                                       static_cast<jlong>(status.gaps)};
  return array_of(env, values);
}

// ---- PTT ----

void ptt_init(JNIEnv* env, jclass, jobjectArray metrics, jint privilege) {
  std::vector<std::string> names;
  std::vector<const char*> pointers;
  const jsize count = env->GetArrayLength(metrics);
  for (jsize i = 0; i < count; ++i) {
    const auto name = static_cast<jstring>(env->GetObjectArrayElement(metrics, i));
    names.push_back(text_of(env, name).value_or(""));
    if (env->ExceptionCheck()) return;
    env->DeleteLocalRef(name);
  }
  pointers.reserve(1);  // data() of none is not null
  for (const auto& name : names) pointers.push_back(name.c_str());
  (void)check(env, PiPttInit(count, pointers.data(), privilege, nullptr));
}

void ptt_init_thread(JNIEnv* env, jclass) {
  (void)check(env, PttInitThread(0));
}

void ptt_uninit_thread(JNIEnv* env, jclass) {
  (void)check(env, PttUnInitThread(0));
}

jint ptt_read(JNIEnv* env, jclass, jlongArray values) {
  std::array<uint64_t, MAX_PTT_METRICS> all{};
  const int rc = PttGetMetricData(all.data());
  if (rc != PU_SUCCESS) return rc;
  const jsize length = env->GetArrayLength(values);
  env->SetLongArrayRegion(values, 0, length < MAX_PTT_METRICS ? length : MAX_PTT_METRICS,
                          reinterpret_cast<const jlong*>(all.data()));
  return rc;
}

jobjectArray ptt_names(JNIEnv* env, jclass) {
  pi_ptt_state state{};
  state.size = sizeof state;
  if (!check(env, PttGetState(&state))) return nullptr;
  std::vector<std::string> texts;
  for (int i = 0; i < state.metrics; ++i) texts.emplace_back(state.name[i]);
  for (int i = 0; i < state.metrics; ++i) texts.emplace_back(state.unit[i]);
  texts.emplace_back(state.cannot_separate ? state.cannot_separate : "");
  return array_of(env, texts);
}

jint ptt_source(JNIEnv* env, jclass) {
  pi_ptt_state state{};
  state.size = sizeof state;
  return check(env, PttGetState(&state)) ? state.source : 0;
}

}  // namespace

std::span<const JNINativeMethod> thread_methods() {
  static const std::array methods = {
      method("hook", "(II[II[[B)I", hook),
      method("hookInterval", "()I", hook_interval),
      method("itraceInit", "(III)V", itrace_init),
      method("itraceTerminate", "()V", call<ITraceTerminate>),
      method("itraceOn", "()V", itrace_on),
      method("itraceOff", "()V", itrace_off),
      method("itraceDisable", "()V", call<ITraceDisable>),
      method("itraceEnableAll", "()V", call<ITraceEnableAll>),
      method("itraceEnableCurrent", "()V", call<ITraceEnableCurrent>),
      method("itraceEnablePid", "(I)V", itrace_enable_pid),
      method("itraceStatus", "()[J", itrace_status),
      method("pttInit", "([Ljava/lang/String;I)V", ptt_init),
      method("pttTerminate", "()V", call<PttTerminate>),
      method("pttInitThread", "()V", ptt_init_thread),
      method("pttUninitThread", "()V", ptt_uninit_thread),
      method("pttRead", "([J)I", ptt_read),
      method("pttNames", "()[Ljava/lang/String;", ptt_names),
      method("pttSource", "()I", ptt_source)};
  return methods;
}

}  // namespace pi::jperf
