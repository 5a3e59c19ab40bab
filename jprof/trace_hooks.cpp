// SPDX-License-Identifier: MIT
// Stores hooks 19/41 and 19/42 in a running trace (pi/jit_log.h). No effect without one.
#include "trace_hooks.h"

#include <pitrace/abi.h>

#include "perfutil.h"

namespace pi::jprof {
namespace {

uint32_t low(uint64_t value) {
  return static_cast<uint32_t>(value);
}

uint32_t high(uint64_t value) {
  return static_cast<uint32_t>(value >> 32);
}

}  // namespace

uint32_t trace_interval() {
  return PiTraceHookInterval();
}

void hook_code(uint32_t interval, uint32_t pid, uint64_t time, uint64_t address) {
  if (interval == 0) return;
  const uint32_t ints[] = {interval, pid, low(time), high(time), low(address)};
  (void)PiTraceHook(PITRACE_MAJOR_MTE, PITRACE_MTE_JITTED, ints, PITRACE_JITTED_INTS, nullptr, 0);
}

void hook_thread(uint32_t interval, uint32_t pid, uint64_t time, uint32_t tid, bool starts,
                 std::string_view name) {
  if (interval == 0) return;
  const uint32_t event = starts ? PITRACE_JAVA_THREAD_START : PITRACE_JAVA_THREAD_END;
  const uint32_t ints[] = {interval, pid, low(time), high(time), tid, event};
  const pi_hook_string text{name.data(),
                            name.size() < PITRACE_MAX_STRING ? name.size() : PITRACE_MAX_STRING};
  (void)PiTraceHook(PITRACE_MAJOR_MTE, PITRACE_MTE_JAVA_THREAD, ints, PITRACE_JAVA_THREAD_INTS,
                    &text, 1);
}

}  // namespace pi::jprof
