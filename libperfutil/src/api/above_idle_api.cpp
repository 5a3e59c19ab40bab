// SPDX-License-Identifier: MIT
// C entry points of AboveIdle.

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "call.h"
#include "counters/above_idle.h"
#include "perfutil.h"
#include "system/kernel_device.h"
#include "system/system_facts.h"

namespace pi::perfutil {
namespace {

// With call_mutex() held. The end of the process closes the device at the latest.
std::unique_ptr<AboveIdleSource>& global_source() {
  static OfProcess<std::unique_ptr<AboveIdleSource>> source;
  return source.get();
}

Error not_active() {
  return {PU_ERROR_NOT_INITIALIZED, "AboveIdle is not active; call AiInit first."};
}

Status init() {
  if (global_source())
    return Error{PU_ERROR_INCORRECT_STATE, "AboveIdle is active already; call AiTerminate first."};
  auto source = open_above_idle(std::make_unique<KernelDevice>(), configured_cpus());
  if (!source) return source.error();
  global_source() = std::move(*source);
  return {};
}

Status get(ai_counters* counters) {
  if (counters == nullptr) return Error{PU_ERROR_NULL_POINTER, "The array of counters is null."};
  if (!global_source()) return not_active();
  const auto now = global_source()->read();
  if (!now) return now.error();
  const uint32_t cpus = configured_cpus();
  std::fill_n(counters, cpus, ai_counters{});
  for (const auto& [cpu, values] : *now)
    if (cpu < cpus) counters[cpu] = values;
  return {};
}

}  // namespace
}  // namespace pi::perfutil

using pi::Error;
using pi::Status;
using pi::perfutil::call;
using pi::perfutil::global_source;
using pi::perfutil::query;
using pi::perfutil::Trace;

int IsAiSupported(void) {
  return 1;
}

int IsAiActive(void) {
  return PiAiSource() != 0;
}

int PiAiSource(void) {
  return query([](Trace&) { return global_source() ? global_source()->kind() : 0; });
}

int AiInit(void) {
  return call([](Trace&) { return pi::perfutil::init(); });
}

int AiTerminate(void) {
  return call([](Trace&) -> Status {
    if (!global_source()) return pi::perfutil::not_active();
    global_source().reset();
    return {};
  });
}

struct ai_counters* AiAllocCounters(int* size) {
  const size_t cpus = pi::perfutil::configured_cpus();
  auto* counters = static_cast<ai_counters*>(std::calloc(cpus, sizeof(ai_counters)));
  if (size != nullptr) *size = counters ? static_cast<int>(cpus * sizeof(ai_counters)) : 0;
  return counters;
}

void AiFreeCounters(struct ai_counters* counters) {
  std::free(counters);
}

int AiZeroCounters(struct ai_counters* counters) {
  return call([=](Trace&) -> Status {
    if (counters == nullptr) return Error{PU_ERROR_NULL_POINTER, "The array of counters is null."};
    std::fill_n(counters, pi::perfutil::configured_cpus(), ai_counters{});
    return {};
  });
}

int AiGetCounters(struct ai_counters* counters) {
  return call([=](Trace&) { return pi::perfutil::get(counters); });
}
