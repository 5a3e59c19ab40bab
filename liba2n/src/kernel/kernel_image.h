// SPDX-License-Identifier: MIT
// Symbols of a kernel from elsewhere than the trace (an image, a symbol map, an MSI file), once
// they are shown to be the traced kernel's.
#ifndef A2N_KERNEL_IMAGE_H
#define A2N_KERNEL_IMAGE_H

#include <cstdint>
#include <optional>
#include <string>

#include "base/notes.h"
#include "kernel_symbols.h"
#include "pi/result.h"
#include "symbols/symbol_table.h"

namespace a2n {

// A kernel's symbols at the addresses it was linked for.
struct KernelSource {
  std::string name;               // of the file, for messages
  std::string build_id;           // "" when it tells none
  std::optional<uint64_t> stext;  // address of _stext
  SymbolTable symbols;
};

// The same, placed where the traced kernel was.
struct KernelImage {
  SymbolTable symbols;  // at the addresses the kernel was linked for
  uint64_t shift = 0;   // what the boot added to them
};

// Reads an uncompressed image with symbols (vmlinux).
pi::Result<KernelSource> read_kernel_image(const std::string& path);

// Reads a symbol map: lines "ADDRESS TYPE NAME" as of nm -a, genmap, System.map.
pi::Result<KernelSource> read_kernel_map(const std::string& path);

// The source is taken when its build-id is the traced one, or one of them is not known, and its
// functions, moved by the distance of the two _stext, begin where the trace's kernel symbols begin.
// Otherwise nothing, and a note says why; without validation a note says that it was used all the
// same. Where the trace has no kernel symbols nothing can be taken: it has no place.
std::optional<KernelImage> place_kernel(KernelSource source,
                                        const std::optional<std::string>& traced_build_id,
                                        const KernelSymbols& traced, bool validate, Notes& notes);

}  // namespace a2n

#endif  // A2N_KERNEL_IMAGE_H
