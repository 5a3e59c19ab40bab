// SPDX-License-Identifier: MIT
// The child process without rights that compiles tables, since the files may be hostile.
#ifndef SWTRACE_TABLE_CHILD_H
#define SWTRACE_TABLE_CHILD_H

#include <cstdint>

namespace pi::swtrace {

// The first argument of a swtrace that is such a child. Its standard input is a socket of packets:
// a request comes with two descriptors, the file and the memory for its table, and has one answer.
inline constexpr char table_child_word[] = "--compile-unwind-table";

struct TableRequest {
  uint64_t number;
  uint64_t bytes;  // of the file
};

enum class TableStatus : uint64_t { good = 1, no_table, failed };
struct TableAnswer {
  uint64_t number;  // of the request
  TableStatus status;
};

// Exit statuses of the child.
inline constexpr int child_good = 0, child_bad_request = 2, child_not_confined = 3;

int table_child_main();

// Gives up every right that compiling does not need: root's user and capabilities, new programs,
// and all system calls but those for memory, for the socket and for the output. It ends with its
// parent thread. False if that is not possible.
bool confine();

// How much memory the table of a file may use, within what confine() has left for all files.
void limit_memory(uint64_t file_bytes);

}  // namespace pi::swtrace

#endif  // SWTRACE_TABLE_CHILD_H
