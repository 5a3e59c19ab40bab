// SPDX-License-Identifier: MIT
// What each of the library's readers may use, by its input's size. docs/security.md has the same
// numbers in a table. What is past its budget is refused by name, in a note or an error.
#ifndef A2N_BUDGETS_H
#define A2N_BUDGETS_H

#include <cstdint>

#include "pi/budget.h"

namespace a2n::budgets {

constexpr uint64_t MiB = uint64_t{1} << 20;
constexpr uint64_t GiB = uint64_t{1} << 30;

// Files, in bytes that they claim for each byte that is stored; memory is some twenty bytes a byte.
constexpr pi::Budget elf_file = pi::sparse_file;
constexpr pi::Budget text_file = pi::sparse_file;
constexpr pi::Budget perf_map{64 * MiB, 32, 4 * GiB};
constexpr pi::Budget jit_log{64 * MiB, 32, 16 * GiB};
constexpr pi::Budget jit_dump{64 * MiB, 32, 16 * GiB};

// By bytes of the ELF file. Names: of all symbols of a table together, those that share their bytes
// counted for each; linkers merge a few, so that real files stay below one byte a byte.
constexpr pi::Budget symbol_names{16 * MiB, 16};
// The unwind table, which is a part of the file; a sparse file can claim a larger one.
constexpr pi::Budget unwind_table{16 * MiB, 1};
// Notes, in which the build-id is looked for.
constexpr pi::Budget notes{1 * MiB, 1};
// Bytes of functions handed out one by one, by bytes of code: real functions hardly overlap.
constexpr pi::Budget function_code{1 * MiB, 2};
// Pieces of code kept for reading instructions: what is past it is read again.
constexpr pi::Budget code_pieces{1 * MiB, 2};

// By compressed bytes: zstd makes the kernel's symbols five times smaller.
constexpr pi::Budget kernel_text{16 * MiB, 16, 1 * GiB};

// By compressed bytes: xz makes symbols four to eight times smaller.
constexpr pi::Budget minidebuginfo{16 * MiB, 32, 512 * MiB};

// A debug file that a debuginfod server sends; longer ones are not taken.
constexpr uint64_t max_downloaded = 4 * GiB;

// Debug information. Unpacked sections, by bytes of the file: zlib and zstd make it two to six
// times smaller. By bytes that are used: what is unpacked of .dwo files that are not.
constexpr pi::Budget debug_sections{16 * MiB, 16};
// Line programs, by bytes of the file: one byte can make a row. They are a tenth of real files.
constexpr pi::Budget line_programs{1 * MiB, 2};
// Memory for lines, inlined functions, their ranges and names, by unpacked bytes. One byte of a
// line program can make a row of 16 bytes; real debug information takes one to five bytes a byte.
constexpr pi::Budget source_index{4 * MiB, 24};
// Bytes that units and entries share and that are read for each of them, by unpacked bytes: tables
// of abbreviations, lists of ranges, names, line tables. Real files stay below one byte a byte.
constexpr pi::Budget debug_entries{1 * MiB, 16};

}  // namespace a2n::budgets

#endif  // A2N_BUDGETS_H
