// SPDX-License-Identifier: MIT
// Limits of what post's readers may use, by their input's size. docs/security.md has the same
// numbers in a table. Input that exceeds its budget is refused with an error, or with an entry in
// the damage log.
#ifndef POST_BUDGETS_H
#define POST_BUDGETS_H

#include <pi/budget.h>

#include <cstddef>
#include <cstdint>

namespace post::budgets {

// Size that a trace file may have for its stored bytes: a hole in a file reads as zeros.
constexpr pi::Budget trace_file{uint64_t{1} << 30, 32};
// Bytes that a search for a header reads at once: first_scan, then twice as many each time up to
// largest_scan. A search then reads at most twice the bytes that it skips, and the first piece.
constexpr size_t first_scan = 1 << 10;
constexpr size_t largest_scan = 256 << 10;
// How often post searches for the logs of a process's runtime again because it mapped one more
// jitdump.
constexpr uint32_t jit_dumps_of_process = 8;

// Bytes of a source file, and of all source files of a report; in memory up to five times as much.
constexpr size_t source_file = 16 << 20;
constexpr size_t source_files = 64 << 20;
// How many tails of a path are tried below each directory of --source-path, the longest first.
constexpr size_t source_tails = 64;

}  // namespace post::budgets

#endif  // POST_BUDGETS_H
