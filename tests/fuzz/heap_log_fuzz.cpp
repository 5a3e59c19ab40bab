// SPDX-License-Identifier: MIT
// Reads any bytes as a log of libheapit. Names are left out: the log says in which files they are,
// and elf_symbols_fuzz is for those.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "amplification.h"
#include "heap_file.h"

namespace {

// A path of 64 bytes without callers becomes one of 96, a mapping of 56 one of 80, in vectors that
// grow by doubling.
constexpr fuzz::Allowed allowed{1 << 20, 16, 1'000'000, 100};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const fuzz::Amplification amplification(size, allowed);
  const auto file =
      heapstats::parse_heap_file({reinterpret_cast<const char*>(data), size}, "fuzzed");
  if (!file) return 0;
  for (const auto& path : file->paths) {
    if (file->callers(path).size() != path.frames || path.mappings > file->mappings.size())
      std::abort();
    if (path.kind >= pi::heap_log::kinds || path.end > pi::heap_log::not_stored) std::abort();
  }
  for (const auto& mapping : file->mappings)
    if (mapping.begin >= mapping.end || mapping.path.empty()) std::abort();
  return 0;
}
