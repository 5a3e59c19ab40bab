// SPDX-License-Identifier: MIT
// The majors that a request to enable or disable refers to.
#ifndef PI_PERFUTIL_MAJOR_SET_H
#define PI_PERFUTIL_MAJOR_SET_H

#include <bitset>
#include <cstdint>

#include <pitrace/abi.h>

namespace pi::perfutil {

// All of 1 to 254 for PITRACE_MAJOR_ALL, the tprof set for PITRACE_MAJOR_TPROF_SET, else the one.
inline std::bitset<256> majors_meant(uint32_t major) {
  std::bitset<256> set;
  if (major == PITRACE_MAJOR_ALL) {
    for (uint32_t each = 1; each <= PITRACE_MAJOR_MAX; ++each) set.set(each);
  } else if (major == PITRACE_MAJOR_TPROF_SET) {
    set.set(PITRACE_MAJOR_TPROF);
    set.set(PITRACE_MAJOR_MTE);
  } else if (major <= PITRACE_MAJOR_MAX) {
    set.set(major);
  }
  return set;
}

}  // namespace pi::perfutil

#endif  // PI_PERFUTIL_MAJOR_SET_H
