// SPDX-License-Identifier: MIT
// Reads the log of libheapit. Every byte of the file may be hostile.
#ifndef HEAPSTATS_HEAP_FILE_H
#define HEAPSTATS_HEAP_FILE_H

#include <pi/heap_log.h>
#include <pi/result.h>

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace heapstats {

// A file that was mapped from the record of this index on.
struct Mapping {
  uint64_t begin, end, offset, inode;
  std::string path;
};

struct StoredPath {
  pi::heap_log::Kind kind;
  pi::heap_log::PathEnd end;
  std::array<uint64_t, pi::heap_log::numbers> number;
  size_t mappings;       // how many of them were there when the path was stored
  size_t first, frames;  // its callers in HeapFile::addresses, innermost first
};

struct HeapFile {
  std::string path;  // of the file, printable
  uint32_t pid = 0;
  int64_t begin_ns = 0;
  uint64_t recorded_ns = 0;    // of a process that ran already; 0: from its start
  uint64_t earlier_frees = 0;  // by such a process, of what it had allocated before
  std::string command;         // printable
  uint64_t live_bytes = 0, peak_bytes = 0;
  pi::heap_log::Search search = pi::heap_log::not_searched;  // for leaked blocks
  uint64_t search_ns = 0, search_limit_ns = 0, searched_bytes = 0;
  std::array<uint64_t, pi::heap_log::losses> lost{};
  std::string damage;  // why the rest of the file is not used; empty: it is whole
  std::vector<Mapping> mappings;
  std::vector<StoredPath> paths;
  std::vector<uint64_t> addresses;

  std::span<const uint64_t> callers(const StoredPath& of) const {
    return std::span(addresses).subspan(of.first, of.frames);
  }
};

// More than libheapit writes.
constexpr size_t max_file_bytes = 256 << 20;

pi::Result<HeapFile> parse_heap_file(std::string_view bytes, const std::string& path);
pi::Result<HeapFile> read_heap_file(const std::string& path);

}  // namespace heapstats

#endif  // HEAPSTATS_HEAP_FILE_H
