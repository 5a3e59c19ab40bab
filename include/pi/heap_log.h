// SPDX-License-Identifier: MIT
// The file that libheapit writes and heapstats reads: a header, then records one behind the other.
//
// The process maps the file and changes its numbers while it runs, so the file is complete whatever
// ends the process. Readers take a copy first, and check every number.
#ifndef PI_HEAP_LOG_H
#define PI_HEAP_LOG_H

#include <cstddef>
#include <cstdint>

namespace pi::heap_log {

constexpr uint64_t magic = 0x32304c7061654869;  // "iHeapL02"

// What a call path leads to.
enum Kind : uint32_t { allocation, mutex, read_lock, write_lock, condition, other_futex, kinds };

// Numbers of a path. The live bytes are those that were allocated and not freed until now. The
// other ones are of a search at the end: live blocks that nothing refers to any more, and those
// that are reached only by pointers into their middle.
enum HeapNumber : uint32_t {
  allocations,
  bytes,
  frees,
  live_bytes,
  peak_bytes,
  leaked_blocks,
  leaked_bytes,
  inside_blocks,
  inside_bytes
};
enum WaitNumber : uint32_t { waits, nanoseconds, longest };
constexpr size_t numbers = 9;

// Whether the search for leaked blocks has found which they are, or else why not.
enum Search : uint32_t {
  not_searched,    // it was not wanted, or the process has not ended by exit()
  searched,        // it has
  no_time,         // it took too long
  interrupted,     // by a signal
  no_memory,       // there is no memory for it, or no process can be started
  not_stopped,     // a thread did not stop
  not_traced,      // the kernel does not let the threads be stopped, or another program does so
  not_readable,    // memory or /proc cannot be read
  blocks_unknown,  // allocations or their ends were lost
  searches
};

// What is missing.
enum Loss : uint32_t {
  lost_paths,     // allocations and waits whose path was not stored: no space
  lost_blocks,    // allocations whose end is not known: no space; they count as freed
  lost_mappings,  // files of code that were not stored
  unseen_frees,   // blocks that were freed in a way that was not seen
  lost_calls,     // calls of a process that ran already: no space for them in the ring
  losses
};

struct Header {
  uint64_t magic;
  uint32_t header_bytes;  // where the records begin
  uint32_t pid;
  int64_t begin_ns;     // CLOCK_REALTIME
  uint64_t used_bytes;  // header and complete records
  uint64_t live_bytes;  // of all paths
  uint64_t peak_bytes;  // the most there were at once
  uint64_t lost[losses];
  uint64_t recorded_ns;    // how long a process that ran already was recorded; 0: from its start
  uint64_t earlier_frees;  // by such a process, of what it had allocated before
  uint64_t search;         // a Search
  uint64_t search_ns;      // how long it took, with the threads stopped
  uint64_t search_limit;   // how long it was allowed to take, in nanoseconds
  uint64_t searched_bytes;
  uint64_t reserved;
  uint32_t command_bytes;
  char command[1024];  // /proc/self/cmdline when the log began
};

constexpr size_t alignment = 8;  // of records

enum RecordType : uint32_t { mapping = 1, path = 2 };

struct Record {
  uint32_t type;
  uint32_t bytes;  // of the whole record, a multiple of the alignment
};

// A file with code, at these addresses from now on: until a later record has overlapping ones.
struct Mapping {
  Record record;
  uint64_t begin, end;
  uint64_t offset;  // of begin in the file
  uint64_t inode;
  // then the path, and zeros
};

// How the addresses of a path end.
enum PathEnd : uint32_t { whole, cut, unknown, not_stored };

struct Path {
  Record record;
  uint32_t kind;
  uint16_t end;
  uint16_t frames;
  uint64_t number[numbers];
  // then the callers' addresses, innermost first; each minus one is inside the caller's instruction
};

constexpr size_t max_frames = 256;

}  // namespace pi::heap_log

#endif  // PI_HEAP_LOG_H
