// SPDX-License-Identifier: MIT
// Converts addresses to names, with a bounded cache before the symbolizer.
#ifndef POST_RESOLVER_H
#define POST_RESOLVER_H

#include <cstdint>
#include <map>
#include <string_view>
#include <vector>

#include "processes.h"
#include "symbolizer.h"
#include "text/cache_places.h"
#include "text/string_table.h"

namespace post {

// The names of an address. All processes share those of kernel addresses, under one version.
struct Place {
  uint64_t address = 0;
  uint64_t start = 0;         // that offsets count from
  uint32_t maps_version = 0;  // 0: none
  NameId module = no_name;
  NameId symbol = no_name;
  Found found = Found::no_module;
  uint32_t inlined = 0;    // Resolver::inlined()
  uint64_t in_module = 0;  // the start, counted from the module's
  uint64_t code_id = 0;    // of JIT-compiled code, see Lookup
  bool narrow = false;     // code of a 32-bit module
  static constexpr uint64_t no_address = UINT64_MAX;
  uint64_t file_address = no_address;  // Lookup's, with Options::addresses
};

class Resolver {
 public:
  struct Options {
    bool module_width = false;  // names of 64-bit modules end in _64
    bool inlined = false;       // inlined functions are looked up
    bool addresses = false;     // functions without a symbol are distinguished by file_address
  };

  // Both must outlive this. places: of the cache, a power of two.
  Resolver(Symbolizer& symbolizer, StringTable& names, Options options, size_t cache_entries);

  // The version under which an address is known. user: not in the kernel.
  static uint32_t version_of(uint32_t maps_version, uint64_t address, bool user) {
    return !user && address >> 63 != 0 ? kernel_version : maps_version;
  }
  static uint64_t hash_of(uint64_t address, uint32_t version) {
    return (address + version * 0x9e3779b97f4a7c15ull) * 0xd6e8feb86659fd93ull >> 32;
  }

  // maps_version: of the process at the time of the sample. Valid until the next call.
  const Place& find(const Process& process, uint32_t maps_version, uint64_t address, bool user,
                    uint64_t time);

  // The functions inlined at an address (Place::inlined), the outermost first; their names are
  // marked as inlined.
  const std::vector<NameId>& inlined(uint32_t of_place) const { return chains_[of_place]; }
  // The last of them, or the symbol.
  NameId innermost(const Place& place) const {
    return place.inlined == 0 ? place.symbol : chains_[place.inlined].back();
  }

 private:
  static constexpr uint32_t kernel_version = 0xffffffff;  // of processes: they are counted from 1

  uint32_t chain_at(const Process& process, uint64_t address, uint64_t time);

  Symbolizer& symbolizer_;
  StringTable& names_;
  const Options options_;
  CachePlaces<Place> places_;
  std::vector<std::vector<NameId>> chains_{{}};  // number 0: nothing inlined
  std::map<std::vector<NameId>, uint32_t> known_chains_;
};

}  // namespace post

#endif  // POST_RESOLVER_H
