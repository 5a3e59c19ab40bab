// SPDX-License-Identifier: MIT
// Those options of the JVM that decide which code it generates.
#include "jvm_flags.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <string_view>

#include "vm_structs.h"

namespace pi::jprof {
namespace {

// The collectors differ in their barriers. All but the last are of the type bool.
constexpr std::array<std::string_view, 14> flags = {"UseSerialGC",
                                                    "UseParallelGC",
                                                    "UseG1GC",
                                                    "UseZGC",
                                                    "ZGenerational",
                                                    "UseShenandoahGC",
                                                    "UseEpsilonGC",
                                                    "UseCompiler",
                                                    "TieredCompilation",
                                                    "UseCompressedOops",
                                                    "UseCompactObjectHeaders",
                                                    "UseJVMCICompiler",
                                                    "PreserveFramePointer",
                                                    "TieredStopAtLevel"};

// Bounds the search if the table of flags has another form than is expected.
constexpr uint64_t most_flags = 10'000;

}  // namespace

std::string code_generation_flags() {
  const auto tables = VmStructs::of_this_jvm();
  if (!tables) return {};
  const auto table = tables->address_of("JVMFlag", "flags");
  const auto count = tables->address_of("JVMFlag", "numFlags");
  const auto size = tables->size_of("JVMFlag");
  const auto name_offset = tables->offset_of("JVMFlag", "_name");
  const auto value_offset = tables->offset_of("JVMFlag", "_addr");
  if (!table || !count || !size || !name_offset || !value_offset) return {};
  std::array<std::string, flags.size()> found;
  const uint64_t first = load<uint64_t>(*table);
  for (uint64_t i = 0; i < std::min(load<uint64_t>(*count), most_flags); ++i) {
    const char* name = load<const char*>(first + i * *size + *name_offset);
    const uint64_t value = load<uint64_t>(first + i * *size + *value_offset);
    const auto flag = name ? std::find(flags.begin(), flags.end(), name) : flags.end();
    if (flag == flags.end() || value == 0) continue;
    std::string& text = found[static_cast<size_t>(flag - flags.begin())];
    if (*flag == flags.back())
      text = std::string(*flag) + "=" + std::to_string(load<int64_t>(value));
    else if (load<uint8_t>(value) != 0)
      text = *flag;
  }
  std::string text;
  for (const std::string& flag : found)
    if (!flag.empty()) text += (text.empty() ? "" : " ") + flag;
  return text;
}

}  // namespace pi::jprof
