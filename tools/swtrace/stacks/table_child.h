// SPDX-License-Identifier: MIT
// Has the table of a file compiled by a child process without rights, since the file may be
// hostile.
#ifndef SWTRACE_TABLE_CHILD_H
#define SWTRACE_TABLE_CHILD_H

#include <chrono>

#include <pi/result.h>

#include "sealed_table.h"

namespace pi::swtrace {

// The first argument of a swtrace that is such a child. Its standard input is the file, its
// standard output the memory for the table.
inline constexpr char table_child_word[] = "--compile-unwind-table";

// Exit statuses of the child.
inline constexpr int child_good = 0, child_no_table = 1, child_failed = 2, child_not_confined = 3;

int table_child_main();

// Gives up every right that compiling does not need: root's user and capabilities, other
// descriptors, new programs, and all system calls but those for memory and for the output. It ends
// with its parent thread. file: size of the input. False if that is not possible.
bool confine(uint64_t file);

inline constexpr std::chrono::seconds child_time{15};

struct ChildLimits {
  const char* program = "/proc/self/exe";
  std::chrono::milliseconds time = child_time;
};

enum class NoTable { has_none, failed };
// An error's code is a NoTable, its message the reason. file: open for reading.
Result<SealedTable> compile_in_sandbox(const UniqueFd& file, const ChildLimits& limits = {});

}  // namespace pi::swtrace

#endif  // SWTRACE_TABLE_CHILD_H
