// SPDX-License-Identifier: MIT
// Symbols of a kernel image (vmlinux), once it is shown to be the traced kernel's.
#ifndef A2N_KERNEL_IMAGE_H
#define A2N_KERNEL_IMAGE_H

#include <cstdint>
#include <optional>
#include <string>

#include "kernel_symbols.h"
#include "notes.h"
#include "symbol_table.h"

namespace a2n {

struct KernelImage {
  SymbolTable symbols;  // at the addresses the image was linked for
  uint64_t shift = 0;   // what the boot added to them
};

// The image is taken when its build-id is the traced one, or that is not known, and its functions,
// moved by the distance of the two _stext, begin where the trace's kernel symbols begin. Otherwise
// nothing, and a note says why.
std::optional<KernelImage> load_kernel_image(const std::string& path,
                                             const std::optional<std::string>& traced_build_id,
                                             const KernelSymbols& traced, Notes& notes);

}  // namespace a2n

#endif  // A2N_KERNEL_IMAGE_H
