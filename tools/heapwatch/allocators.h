// SPDX-License-Identifier: MIT
// The functions that allocate and free in the files of a process.
#ifndef HEAPWATCH_ALLOCATORS_H
#define HEAPWATCH_ALLOCATORS_H

#include <cstdint>
#include <string>
#include <vector>

#include <pi/heap_log.h>
#include <pi/result.h>
#include <pi/unique_fd.h>

#include "call.h"

namespace heapwatch {

struct Place {
  Function function;
  size_t file;      // index in Allocators::files
  uint64_t offset;  // in the file
};

// A function that waits for a lock or a condition of pthreads.
struct LockFunction {
  uint64_t inode;       // of its file
  uint64_t begin, end;  // in the file
  pi::heap_log::Kind kind;
};

struct Allocators {
  struct File {
    pi::UniqueFd fd;
    std::string path;  // printable
  };
  std::vector<File> files;  // those with an allocator
  std::vector<Place> places;
  std::vector<LockFunction> locks;
  std::vector<std::string> notes;  // what is missing, a sentence each
};

// Whether there is a function that allocates; else the reason.
pi::Status has_allocator(const Allocators& found, int pid);

// Opens the files that the process has mapped as code, by its /proc directory: what it may have
// put in their place does not matter.
pi::Result<Allocators> find_allocators(int pid);

}  // namespace heapwatch

#endif  // HEAPWATCH_ALLOCATORS_H
