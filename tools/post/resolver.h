// SPDX-License-Identifier: MIT
// Addresses to names, with a bounded cache before the symbolizer.
#ifndef POST_RESOLVER_H
#define POST_RESOLVER_H

#include <cstdint>
#include <vector>

#include "processes.h"
#include "string_table.h"
#include "symbolizer.h"

namespace post {

// What an address stands for. The kernel's are the same for all, under a version of their own.
struct Place {
  uint64_t address = 0;
  uint64_t start = 0;         // that offsets count from
  uint32_t maps_version = 0;  // 0: none
  NameId module = no_name;
  NameId symbol = no_name;
  Found found = Found::no_module;
};

class Resolver {
 public:
  // Both must outlive this. module_width: names of 64-bit modules end in _64. places: of the cache,
  // a power of two.
  Resolver(Symbolizer& symbolizer, StringTable& names, bool module_width, size_t places);

  // maps_version: of the process when the address was taken. The place stays until the next call.
  const Place& find(const Process& process, uint32_t maps_version, uint64_t address, bool user,
                    uint64_t time);

 private:
  Symbolizer& symbolizer_;
  StringTable& names_;
  const bool module_width_;
  std::vector<Place> places_;
};

}  // namespace post

#endif  // POST_RESOLVER_H
