// SPDX-License-Identifier: MIT
// MiniDebugInfo: symbols that some distributions keep in stripped files, as an xz-compressed ELF
// file in the section .gnu_debugdata.
#ifndef A2N_MINIDEBUGINFO_H
#define A2N_MINIDEBUGINFO_H

#include <optional>

#include "elf_file.h"

namespace a2n {

// Nullopt if the file has no MiniDebugInfo or it is damaged.
std::optional<ElfFile> open_minidebuginfo(const ElfFile& file);

}  // namespace a2n

#endif  // A2N_MINIDEBUGINFO_H
