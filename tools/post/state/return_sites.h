// SPDX-License-Identifier: MIT
// Tests by the code around it whether an address on a user stack can be a return address.
#ifndef POST_RETURN_SITES_H
#define POST_RETURN_SITES_H

#include <disassembler.h>

#include <cstdint>
#include <string_view>

#include "processes.h"
#include "symbolizer.h"
#include "text/cache_places.h"

namespace post {

enum class ReturnSite : uint8_t {
  invalid,       // no call ends there
  valid,         // a call ends there, or the code is not known
  thread_start,  // ... and its instructions are those of code that starts threads
};

// What is known about the address without its code.
struct ReturnPlace {
  Found found = Found::no_module;
  std::string_view module;
  std::string_view symbol;  // a stand-in if there is none
  bool narrow = false;      // code of a 32-bit module
  bool jitted = false;
};

class ReturnSites {
 public:
  // symbolizer must outlive this. places: of the cache, a power of two.
  ReturnSites(Symbolizer& symbolizer, size_t cache_entries);

  ReturnSite at(const Process& process, const ReturnPlace& place, uint64_t address, uint64_t time);

 private:
  struct Known {
    uint64_t address = 0;
    uint32_t maps_version = 0;  // 0: none
    ReturnSite site = ReturnSite::invalid;
  };

  ReturnSite judge(uint32_t pid, const ReturnPlace& place, uint64_t address, uint64_t time) const;
  bool starts_thread(uint32_t pid, std::span<const std::byte> code, uint64_t address,
                     uint64_t time) const;
  bool calls_exit(uint32_t pid, std::span<const std::byte> code, uint64_t address,
                  uint64_t time) const;

  Symbolizer& symbolizer_;
  CachePlaces<Known> known_;
  const pi::Disassembler wide_;
  const pi::Disassembler narrow_{false};
};

}  // namespace post

#endif  // POST_RETURN_SITES_H
