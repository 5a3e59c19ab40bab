// SPDX-License-Identifier: MIT
// What post's readers may use, by their input's size. docs/security.md has the same numbers in a
// table. What is past its budget is refused by name: an error, or an entry in the log of damage.
#ifndef POST_BUDGETS_H
#define POST_BUDGETS_H

#include <pi/budget.h>

#include <cstddef>
#include <cstdint>

namespace post::budgets {

// Bytes that a trace may claim for those that are stored: a hole reads as zeros without end.
constexpr pi::Budget trace_file{uint64_t{1} << 30, 32};
// Bytes that are read at once in search of a header: first so many, then twice as many each time,
// so that a search reads at most twice what it passes over and the first piece.
constexpr size_t first_scan = 1 << 10;
constexpr size_t largest_scan = 256 << 10;
// How often the logs of a process's runtime are looked for again because it mapped one more
// jitdump.
constexpr uint32_t jit_dumps_of_process = 8;

// Bytes of a source file, and of all that one report reads; in memory up to five times as much.
constexpr size_t source_file = 16 << 20;
constexpr size_t source_files = 64 << 20;
// How many tails of a path are tried below each directory of --source-path, the longest first.
constexpr size_t source_tails = 64;

}  // namespace post::budgets

#endif  // POST_BUDGETS_H
