// SPDX-License-Identifier: MIT
// Options of the JVM, with the values that are in force.
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

// Calls use(name, address of its value) for each flag.
template <class Use>
void for_each_flag(Use use) {
  const auto tables = VmStructs::of_this_jvm();
  if (!tables) return;
  const auto table = tables->address_of("JVMFlag", "flags");
  const auto count = tables->address_of("JVMFlag", "numFlags");
  const auto size = tables->size_of("JVMFlag");
  const auto name_offset = tables->offset_of("JVMFlag", "_name");
  const auto value_offset = tables->offset_of("JVMFlag", "_addr");
  if (!table || !count || !size || !name_offset || !value_offset) return;
  const uint64_t first = load<uint64_t>(*table);
  for (uint64_t i = 0; i < std::min(load<uint64_t>(*count), most_flags); ++i) {
    const char* name = load<const char*>(first + i * *size + *name_offset);
    const uint64_t value = load<uint64_t>(first + i * *size + *value_offset);
    if (name && value != 0) use(std::string_view(name), value);
  }
}

template <class T>
std::optional<T> value_of(std::string_view wanted) {
  std::optional<T> found;
  for_each_flag([&](std::string_view name, uint64_t value) {
    if (name == wanted) found = load<T>(value);
  });
  return found;
}

}  // namespace

std::optional<bool> jvm_switch(std::string_view name) {
  const auto value = value_of<uint8_t>(name);
  if (!value) return std::nullopt;
  return *value != 0;
}

std::optional<int64_t> jvm_number(std::string_view name) {
  return value_of<int64_t>(name);
}

std::string code_generation_flags() {
  std::array<std::string, flags.size()> found;
  for_each_flag([&](std::string_view name, uint64_t value) {
    const auto flag = std::find(flags.begin(), flags.end(), name);
    if (flag == flags.end()) return;
    std::string& text = found[static_cast<size_t>(flag - flags.begin())];
    if (*flag == flags.back())
      text = std::string(*flag) + "=" + std::to_string(load<int64_t>(value));
    else if (load<uint8_t>(value) != 0)
      text = *flag;
  });
  std::string text;
  for (const std::string& flag : found)
    if (!flag.empty()) text += (text.empty() ? "" : " ") + flag;
  return text;
}

}  // namespace pi::jprof
