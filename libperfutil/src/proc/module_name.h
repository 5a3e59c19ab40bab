// SPDX-License-Identifier: MIT
// What the kernel calls an executable mapping, in perf records and /proc/PID/maps, and what we do.
#ifndef PI_PERFUTIL_MODULE_NAME_H
#define PI_PERFUTIL_MODULE_NAME_H

#include <cstdint>
#include <string_view>

#include <pitrace/abi.h>

namespace pi::perfutil {

struct ModuleName {
  std::string_view name;
  uint32_t stamp;  // 0 or PITRACE_STAMP_*
};

// Memory without a file, whatever label it has, is "//anon".
inline ModuleName classify_module(std::string_view name) {
  if (name.empty() || name == "//anon" || name == "[heap]" || name.starts_with("[stack") ||
      name.starts_with("[anon"))
    return {"//anon", PITRACE_STAMP_ANON};
  if (name == "[vdso]") return {name, PITRACE_STAMP_VDSO};
  if (name == "[vsyscall]") return {name, PITRACE_STAMP_VSYSCALL64};
  return {name, 0};
}

}  // namespace pi::perfutil

#endif  // PI_PERFUTIL_MODULE_NAME_H
