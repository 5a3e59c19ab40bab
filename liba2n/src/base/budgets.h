// SPDX-License-Identifier: MIT
// Limits on memory and work of each reader, by the size of its input. docs/security.md has the same
// numbers in a table. A reader that exceeds its budget reports what it dropped in a note or error.
#ifndef A2N_BUDGETS_H
#define A2N_BUDGETS_H

#include <chrono>
#include <cstdint>

#include "pi/budget.h"

namespace a2n::budgets {

constexpr uint64_t MiB = uint64_t{1} << 20;
constexpr uint64_t GiB = uint64_t{1} << 30;

// File sizes, by bytes allocated on disk: a file may have holes. The parsed form takes 20 to
// 30 bytes of memory for each byte.
constexpr pi::Budget elf_file = pi::sparse_file;
constexpr pi::Budget text_file = pi::sparse_file;
constexpr pi::Budget perf_map{64 * MiB, 32, 4 * GiB};
constexpr pi::Budget jit_log{64 * MiB, 32, 16 * GiB};
constexpr pi::Budget jit_dump{64 * MiB, 32, 16 * GiB};

// By bytes of the ELF file. Names of all symbols of a table; bytes that several symbols share count
// once for each symbol. Linkers merge only a few names, so real files stay below one byte per byte.
constexpr pi::Budget symbol_names{16 * MiB, 16};
// The unwind table, which is a part of the file; a sparse file can claim a larger one.
constexpr pi::Budget unwind_table{16 * MiB, 1};
// Procedure linkage tables, and each table of relocations, symbols or names that is read for them:
// all are parts of the file.
constexpr pi::Budget linkage_tables{16 * MiB, 1};
// ELF notes that are searched for the build-id.
constexpr pi::Budget notes{1 * MiB, 1};
// Total size of the returned functions, by bytes of code: real functions hardly overlap.
constexpr pi::Budget function_code{1 * MiB, 2};
// Cached code for reading instructions; code beyond the limit is read from the file again.
constexpr pi::Budget code_pieces{1 * MiB, 2};

// By compressed bytes: zstd compresses the kernel's symbols 5:1.
constexpr pi::Budget kernel_text{16 * MiB, 16, 1 * GiB};

// By compressed bytes: xz compresses symbols 4:1 to 8:1.
constexpr pi::Budget minidebuginfo{16 * MiB, 32, 512 * MiB};

// A debug file that a debuginfod server sends; longer ones are refused.
constexpr uint64_t max_downloaded = 4 * GiB;

// How long debuginfod servers are waited for: without data, for one file, and for all files of a
// context. The user can replace the first two, see Debuginfod.
struct ServerTimes {
  std::chrono::seconds silence{30};
  std::chrono::seconds file{120};
  std::chrono::seconds all{300};
};

// Uncompressed debug sections, by bytes of the file: zlib and zstd compress them 2:1 to 6:1. Also
// what was uncompressed of unused .dwo files, by the bytes of the debug information in use.
constexpr pi::Budget debug_sections{16 * MiB, 16};
// Line programs, by bytes of the file: one byte can produce a row. In real files they are a tenth.
constexpr pi::Budget line_programs{1 * MiB, 2};
// Memory for lines, inlined functions, their ranges and names, by uncompressed bytes. One byte of a
// line program can produce a row of 16 bytes; real debug information takes 1 to 5 bytes per byte.
constexpr pi::Budget source_index{4 * MiB, 24};
// Data that units and entries share and that is read for each of them, by uncompressed bytes:
// abbreviation tables, range lists, names, line tables. Real files stay below one byte per byte.
constexpr pi::Budget debug_entries{1 * MiB, 16};

}  // namespace a2n::budgets

#endif  // A2N_BUDGETS_H
