// SPDX-License-Identifier: MIT
// The symbols some distributions leave in stripped files: an ELF file, xz-compressed, in
// .gnu_debugdata.
#ifndef A2N_MINIDEBUGINFO_H
#define A2N_MINIDEBUGINFO_H

#include <optional>

#include "elf_file.h"

namespace a2n {

// Nothing when the file has none or it is damaged.
std::optional<ElfFile> open_minidebuginfo(const ElfFile& file);

}  // namespace a2n

#endif  // A2N_MINIDEBUGINFO_H
