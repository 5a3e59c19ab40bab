// SPDX-License-Identifier: MIT
// A user hook with its caller's arguments; checks, measures and encodes it.
#ifndef PI_PERFUTIL_HOOK_RECORD_H
#define PI_PERFUTIL_HOOK_RECORD_H

#include <cstdint>

#include <pitrace/encode.h>
#include <pitrace/user_hook.h>

#include "perfutil.h"

namespace pi::perfutil {

struct HookRecord {
  uint32_t major = 0;
  uint32_t minor = 0;
  const uint32_t* ints = nullptr;
  uint32_t int_count = 0;
  const pitrace_string* strings = nullptr;
  uint32_t string_count = 0;

  // PU_SUCCESS, or PU_ERROR_HOOK_TOO_LONG and size unchanged.
  int measure(uint32_t& size) const {
    if (int_count > PITRACE_MAX_INTS || string_count > PITRACE_MAX_STRINGS)
      return PU_ERROR_HOOK_TOO_LONG;
    for (uint32_t i = 0; i < string_count; ++i)
      if (strings[i].length > PITRACE_MAX_STRING) return PU_ERROR_HOOK_TOO_LONG;
    const uint64_t bytes = pitrace_size_hook(int_count, strings, string_count);
    if (bytes > PITRACE_MAX_RECORD) return PU_ERROR_HOOK_TOO_LONG;
    size = static_cast<uint32_t>(bytes);
    return PU_SUCCESS;
  }

  void encode(void* place, uint32_t size, uint32_t time_lo) const {
    pitrace_encode_hook(place, size, time_lo, major, minor, ints, int_count, strings, string_count);
  }
};

}  // namespace pi::perfutil

#endif  // PI_PERFUTIL_HOOK_RECORD_H
