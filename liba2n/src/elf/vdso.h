// SPDX-License-Identifier: MIT
// The vDSO: code that the kernel maps into every process. Read from this process.
#ifndef A2N_VDSO_H
#define A2N_VDSO_H

#include <cstdint>
#include <string>

#include "module_symbols.h"

namespace a2n {

// Its module name in traces and MSI files.
constexpr char vdso_name[] = "[vdso]";

struct Vdso {
  ModuleSymbols module;  // not usable if this process has no vDSO
  std::string build_id;
  uint64_t length = 0;  // of its mapping in bytes, whole pages
};

Vdso read_own_vdso();

}  // namespace a2n

#endif  // A2N_VDSO_H
