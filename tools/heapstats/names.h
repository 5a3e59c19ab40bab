// SPDX-License-Identifier: MIT
// The functions of a log's addresses, by liba2n.
#ifndef HEAPSTATS_NAMES_H
#define HEAPSTATS_NAMES_H

#include <cstdint>
#include <map>
#include <utility>

#include "call_paths.h"
#include "heap_file.h"

struct a2n_context;

namespace heapstats {

class Names {
 public:
  explicit Names(const HeapFile& file);
  ~Names();
  Names(const Names&) = delete;
  Names& operator=(const Names&) = delete;

  // address: inside the function; mappings: how many of the file's mappings there were then.
  const Function& of(uint64_t address, size_t mappings);

 private:
  Function find(uint64_t address, size_t mappings);

  const uint32_t pid_;
  a2n_context* context_;
  std::map<std::pair<uint64_t, size_t>, Function> known_;
};

}  // namespace heapstats

#endif  // HEAPSTATS_NAMES_H
