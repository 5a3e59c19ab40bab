// SPDX-License-Identifier: MIT
// Reads any bytes as a log of libheapit and adds up its paths.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "amplification.h"
#include "call_paths.h"
#include "heap_file.h"
#include "report.h"

namespace {

// A mapping of 48 bytes becomes a module of liba2n, and each address a name.
constexpr fuzz::Allowed allowed{4 << 20, 1024, 20'000'000, 2000};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const fuzz::Amplification amplification(size, allowed);
  const auto file =
      heapstats::parse_heap_file({reinterpret_cast<const char*>(data), size}, "fuzzed");
  if (!file) return 0;
  for (const auto& path : file->paths)
    if (file->callers(path).size() != path.frames) std::abort();
  const auto paths = heapstats::call_paths(*file, false);
  if (paths.rows.size() > file->paths.size()) std::abort();
  heapstats::text_report(*file, paths, {});
  heapstats::folded(paths, heapstats::By::live);
  return 0;
}
