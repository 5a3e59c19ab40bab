// SPDX-License-Identifier: MIT
// C entry points that write user hooks. They use neither call_mutex() nor the error text, because a
// signal handler may call them.
#include <cstdarg>

#include "hooks/hook_client.h"
#include "perfutil.h"

using pi::perfutil::HookRecord;
using pi::perfutil::user_hook_interval;
using pi::perfutil::user_hook_is_unwanted;
using pi::perfutil::write_user_hook;

int TraceHook(uint32_t major, uint32_t minor, uint32_t int_count, uint32_t string_count, ...) {
  if (user_hook_is_unwanted(major)) return PU_SUCCESS;
  uint32_t ints[PITRACE_MAX_INTS];
  pitrace_string strings[PITRACE_MAX_STRINGS];
  // Do not read the variable arguments in this case: they may be missing.
  if (int_count > PITRACE_MAX_INTS || string_count > PITRACE_MAX_STRINGS)
    return PU_ERROR_HOOK_TOO_LONG;
  va_list rest;
  va_start(rest, string_count);
  for (uint32_t i = 0; i < int_count; ++i) ints[i] = va_arg(rest, uint32_t);
  for (uint32_t i = 0; i < string_count; ++i) {
    strings[i].length = va_arg(rest, uint32_t);
    strings[i].data = va_arg(rest, const void*);
  }
  va_end(rest);
  for (uint32_t i = 0; i < string_count; ++i)
    if (!strings[i].data && strings[i].length != 0) return PU_ERROR_NULL_POINTER;
  return write_user_hook({major, minor, ints, int_count, strings, string_count});
}

int PiTraceHook(uint32_t major, uint32_t minor, const uint32_t* ints, uint32_t int_count,
                const struct pi_hook_string* strings, uint32_t string_count) {
  if (user_hook_is_unwanted(major)) return PU_SUCCESS;
  pitrace_string copies[PITRACE_MAX_STRINGS];
  if (int_count > PITRACE_MAX_INTS || string_count > PITRACE_MAX_STRINGS)
    return PU_ERROR_HOOK_TOO_LONG;
  if ((int_count != 0 && !ints) || (string_count != 0 && !strings)) return PU_ERROR_NULL_POINTER;
  for (uint32_t i = 0; i < string_count; ++i) {
    if (!strings[i].data && strings[i].length != 0) return PU_ERROR_NULL_POINTER;
    if (strings[i].length > PITRACE_MAX_STRING) return PU_ERROR_HOOK_TOO_LONG;
    copies[i] = {strings[i].data, static_cast<uint32_t>(strings[i].length)};
  }
  return write_user_hook({major, minor, ints, int_count, copies, string_count});
}

uint32_t PiTraceHookInterval(void) {
  return user_hook_interval();
}
