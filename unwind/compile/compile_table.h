// SPDX-License-Identifier: MIT
// Compiles the unwind table of an ELF file.
#ifndef UNWIND_COMPILE_TABLE_H
#define UNWIND_COMPILE_TABLE_H

#include <cstddef>
#include <span>
#include <vector>

#include <pi/budget.h>
#include <pi/result.h>

namespace unwind {

// The size that a compressed .debug_frame may have, by that of the file.
inline constexpr pi::Budget unpacked_section{16 << 20, 64};

// The bytes of the table, whose addresses are offsets in the file, from .eh_frame, and from
// .debug_frame for functions that begin where the former has no entry. Every byte of the file may
// be hostile. An error, with a reason, for a file that is no ELF file for this processor or has
// neither section.
pi::Result<std::vector<std::byte>> compile_table(std::span<const std::byte> file);

}  // namespace unwind

#endif  // UNWIND_COMPILE_TABLE_H
