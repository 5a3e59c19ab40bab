// SPDX-License-Identifier: MIT
// The names of this process's functions in logs.
#ifndef PI_HOOKIT_NAMES_H
#define PI_HOOKIT_NAMES_H

#include <cstdint>
#include <string>

#include "native_names.h"

namespace pi::hookit {

// Not thread-safe.
class Names {
 public:
  // Sees the libraries that are loaded now.
  Names();

  void see_libraries() { names_.see_libraries(); }

  // "0xADDRESS" if there is no symbol, with the module's name if that is known. If several
  // libraries were at that address one after the other: "A or B".
  std::string of(uint64_t function) const;

 private:
  jprof::NativeNames names_;
};

}  // namespace pi::hookit

#endif  // PI_HOOKIT_NAMES_H
