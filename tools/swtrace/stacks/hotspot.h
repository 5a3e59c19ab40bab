// SPDX-License-Identifier: MIT
// Reads from a Java virtual machine's memory where its code is, and what its frames contain.
#ifndef SWTRACE_HOTSPOT_H
#define SWTRACE_HOTSPOT_H

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>

namespace pi::swtrace {

// Reads exactly so many bytes of a process. False: they cannot be read.
using ReadMemory = std::function<bool(uint64_t address, std::span<std::byte> bytes)>;

struct AddressRange {
  uint64_t begin = 0, end = 0;
  bool contains(uint64_t address) const { return address >= begin && address < end; }
};

// Offsets of fields in structures of the JVM.
struct MethodLayout {
  uint64_t const_method = 0;                           // Method
  uint64_t constants = 0, name = 0, signature = 0;     // ConstMethod
  uint64_t owner = 0, length = 0, constants_size = 0;  // ConstantPool
  uint64_t klass_name = 0;                             // Klass
  uint64_t symbol_length = 0, symbol_text = 0;         // Symbol
};

struct HotspotFacts {
  AddressRange code;          // all generated code
  AddressRange interpreter;   // the part of it that interprets
  bool keeps_frames = false;  // -XX:+PreserveFramePointer
  std::optional<MethodLayout> methods;
};

// Nothing if the JVM is not ready, or not one that this code knows. bias: plus a symbol, its
// address. Every byte of the memory may be hostile: reads are limited in number and size.
std::optional<HotspotFacts> read_hotspot(const ReadMemory& read, uint64_t bias,
                                         std::span<const uint64_t> symbols);

// The name of the method with the structure Method there, as JProf's logs have it. Nothing if it is
// none, or cannot be read. At most 15 reads, of 3 KB together: longer names are
// cut.
std::optional<std::string> read_method_name(const ReadMemory& read, const MethodLayout& layout,
                                            uint64_t method);

}  // namespace pi::swtrace

#endif  // SWTRACE_HOTSPOT_H
