// SPDX-License-Identifier: MIT
// Reads from a Java virtual machine's memory where its code is, and what its frames contain.
#ifndef SWTRACE_HOTSPOT_H
#define SWTRACE_HOTSPOT_H

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>

namespace pi::swtrace {

// Reads exactly so many bytes of a process. False: they cannot be read.
using ReadMemory = std::function<bool(uint64_t address, std::span<std::byte> bytes)>;

struct AddressRange {
  uint64_t begin = 0, end = 0;
  bool contains(uint64_t address) const { return address >= begin && address < end; }
};

struct HotspotFacts {
  AddressRange code;          // all generated code
  AddressRange interpreter;   // the part of it that interprets
  bool keeps_frames = false;  // -XX:+PreserveFramePointer
};

// Nothing if the JVM is not ready, or not one that this code knows. bias: plus a symbol, its
// address. Every byte of the memory may be hostile: reads are limited in number and size.
std::optional<HotspotFacts> read_hotspot(const ReadMemory& read, uint64_t bias,
                                         std::span<const uint64_t> symbols);

}  // namespace pi::swtrace

#endif  // SWTRACE_HOTSPOT_H
