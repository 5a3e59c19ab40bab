// SPDX-License-Identifier: MIT
// The functions of the process that can be patched.
#ifndef PI_HOOKIT_PATCH_SITES_H
#define PI_HOOKIT_PATCH_SITES_H

#include <cstddef>
#include <cstdint>
#include <vector>

namespace pi::hookit {

struct Site {
  uintptr_t patch = 0;     // the first NOP
  uintptr_t function = 0;  // the function's address, before an ENDBR64
  size_t bytes = 0;        // to the end of the NOP that has the fifth byte
  bool one_nop = false;    // a single NOP of five bytes
};

struct Sites {
  std::vector<Site> sites;
  // Functions of the compiler's lists that have fewer than five bytes of NOPs at their entry, or no
  // unwinding information, which says where they begin.
  size_t unusable = 0;
};

// Searches the program and the libraries that are loaded now, except for functions that are
// patched.
Sites find_sites();

}  // namespace pi::hookit

#endif  // PI_HOOKIT_PATCH_SITES_H
