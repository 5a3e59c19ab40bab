// SPDX-License-Identifier: MIT
// Native methods: AboveIdle and cycles per instruction.
#include <perfutil.h>

#include <array>
#include <memory>
#include <vector>

#include "java_values.h"

namespace pi::jperf {
namespace {

jint ai_source(JNIEnv*, jclass) {
  return PiAiSource();
}

jlongArray ai_read(JNIEnv* env, jclass) {
  int size = 0;
  const std::unique_ptr<ai_counters, decltype(&AiFreeCounters)> counters(AiAllocCounters(&size),
                                                                         AiFreeCounters);
  if (!counters) {
    raise(env, PU_ERROR_NOT_ENOUGH_MEMORY, "There is no memory for the counters.");
    return nullptr;
  }
  if (!check(env, AiGetCounters(counters.get()))) return nullptr;
  std::vector<jlong> values;
  for (size_t i = 0; i < static_cast<size_t>(size) / sizeof(ai_counters); ++i) {
    const ai_counters& cpu = counters.get()[i];
    for (const uint64_t value : {cpu.CurTime, cpu.IdleTime, cpu.BusyTime, cpu.IntrTime,
                                 uint64_t{cpu.DispCnt}, uint64_t{cpu.IntrCnt}})
      values.push_back(static_cast<jlong>(value));
  }
  return array_of(env, values);
}

// ---- CPI: the handle is the library's, which refuses one that is not valid ----

void* pointer_of(jlong handle) {
  return reinterpret_cast<void*>(handle);
}

jlong cpi_init(JNIEnv* env, jclass, jint flags, jint privilege) {
  void* handle = nullptr;
  (void)check(env, PiCpiInit(flags, privilege, &handle));
  return reinterpret_cast<jlong>(handle);
}

void cpi_start(JNIEnv* env, jclass, jlong handle) {
  (void)check(env, CpiStart(pointer_of(handle)));
}

void append(std::vector<jlong>& values, const pi_cpi& sums) {
  values.push_back(sums.cpu);
  for (const uint64_t value :
       {sums.counted_ns, sums.cycles, sums.busy_cycles, sums.active_cycles, sums.instructions})
    values.push_back(static_cast<jlong>(value));
}

jlongArray numbers_of(JNIEnv* env, const cpi_data& data) {
  std::vector<jlong> values = {static_cast<jlong>(data.elapsed_ns)};
  append(values, data.system);
  append(values, data.thread);
  for (int i = 0; i < data.cpu_count; ++i) append(values, data.cpus[i]);
  return array_of(env, values);
}

jlongArray cpi_read(JNIEnv* env, jclass, jlong handle) {
  const cpi_data* data = nullptr;
  return check(env, CpiGet(pointer_of(handle), &data)) ? numbers_of(env, *data) : nullptr;
}

jlongArray cpi_trace(JNIEnv* env, jclass, jlong handle, jint minor, jboolean detail,
                     jstring label) {
  const auto text = text_of(env, label);
  if (env->ExceptionCheck()) return nullptr;
  const cpi_data* data = nullptr;
  const int flags = PI_CPI_TRACE_SUMMARY | (detail ? PI_CPI_TRACE_DETAIL : 0);
  const int rc =
      CpiGetAndTrace(pointer_of(handle), minor, flags, text ? text->c_str() : nullptr, &data);
  return check(env, rc) ? numbers_of(env, *data) : nullptr;
}

void cpi_terminate(JNIEnv* env, jclass, jlong handle) {
  (void)check(env, CpiTerminate(pointer_of(handle)));
}

}  // namespace

std::span<const JNINativeMethod> system_methods() {
  static const std::array methods = {method("aiInit", "()V", call<AiInit>),
                                     method("aiTerminate", "()V", call<AiTerminate>),
                                     method("aiSource", "()I", ai_source),
                                     method("aiRead", "()[J", ai_read),
                                     method("cpiInit", "(II)J", cpi_init),
                                     method("cpiStart", "(J)V", cpi_start),
                                     method("cpiRead", "(J)[J", cpi_read),
                                     method("cpiTrace", "(JIZLjava/lang/String;)[J", cpi_trace),
                                     method("cpiTerminate", "(J)V", cpi_terminate)};
  return methods;
}

}  // namespace pi::jperf
