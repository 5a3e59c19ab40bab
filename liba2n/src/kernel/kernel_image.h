// SPDX-License-Identifier: MIT
// Kernel symbols that are not from the trace (image, symbol map, MSI file), and the check that they
// match the traced kernel.
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

// A kernel's symbols at their link addresses.
struct KernelSource {
  std::string name;               // the file's name, for messages
  std::string build_id;           // "" if the file has none
  std::optional<uint64_t> stext;  // address of _stext
  SymbolTable symbols;
};

// A kernel's symbols, with the load offset of the traced kernel.
struct KernelImage {
  SymbolTable symbols;  // at their link addresses
  uint64_t shift = 0;   // KASLR offset: run-time address minus link address
};

// Reads an uncompressed image with symbols (vmlinux).
pi::Result<KernelSource> read_kernel_image(const std::string& path);

// Reads a symbol map: lines "ADDRESS TYPE NAME", as in nm -a, genmap, System.map.
pi::Result<KernelSource> read_kernel_map(const std::string& path);

// Accepts the source if its build-id is the traced one, or one of them is not known, and if its
// functions, shifted by the difference of the two _stext, begin at the addresses of the trace's
// kernel symbols. Otherwise returns nullopt, and a note reports the reason; with validate false it
// is used nevertheless, and a note reports that. Without kernel symbols in the trace the offset is
// not known, and the result is always nullopt.
std::optional<KernelImage> match_kernel(KernelSource source,
                                        const std::optional<std::string>& traced_build_id,
                                        const KernelSymbols& traced, bool validate, Notes& notes);

}  // namespace a2n

#endif  // A2N_KERNEL_IMAGE_H
