// SPDX-License-Identifier: MIT
// The code the kernel maps into every process, taken from this very process.
#ifndef A2N_VDSO_H
#define A2N_VDSO_H

#include <cstdint>
#include <string>

#include "module_symbols.h"

namespace a2n {

// How the trace and MSI files call it.
constexpr char vdso_name[] = "[vdso]";

struct Vdso {
  ModuleSymbols module;  // not usable when this process has none
  std::string build_id;
  uint64_t length = 0;  // of its mapping, whole pages
};

Vdso read_own_vdso();

}  // namespace a2n

#endif  // A2N_VDSO_H
