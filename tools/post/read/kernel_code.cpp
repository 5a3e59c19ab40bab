// SPDX-License-Identifier: MIT
// Reads the kernel's code, as it was executed, from the trace.
#include "kernel_code.h"

#include <fmt/format.h>
#include <pi/nrm2.h>

#include <algorithm>
#include <cstring>

namespace post {
namespace {

namespace code = pi::nrm2::code;

constexpr uint64_t section_limit = 256ull << 20;  // bytes; more code than any kernel has
constexpr size_t alignment = 8;

uint64_t long_at(std::span<const std::byte> bytes, size_t at) {
  uint64_t value;
  std::memcpy(&value, bytes.data() + at, sizeof value);
  return value;
}

}  // namespace

void KernelCode::load(ByteSource& source, const std::vector<Extent>& sections, DamageLog& damage) {
  for (const Extent& section : sections) {
    if (section.size > section_limit) {
      damage.add(fmt::format("the kernel's code at file offset {} is {} bytes long, more than can "
                             "be meant; it is not used",
                             section.offset, section.size),
                 section.size);
      continue;
    }
    std::vector<std::byte> bytes(static_cast<size_t>(section.size));
    bytes.resize(source.read(section.offset, bytes));
    take(bytes, section.offset, damage);
  }
}

// If two pieces begin at one address, the later one replaces the earlier one.
void KernelCode::take(std::span<const std::byte> section, uint64_t file_offset, DamageLog& damage) {
  size_t at = 0;
  while (section.size() - at >= code::head_size) {
    const uint64_t address = long_at(section, at + code::address);
    const uint64_t size = long_at(section, at + code::size);
    const size_t left = section.size() - at - code::head_size;
    if (size == 0 || size > left || address > UINT64_MAX - size) break;
    const auto bytes = section.subspan(at + code::head_size, static_cast<size_t>(size));
    stretches_[address].assign(bytes.begin(), bytes.end());
    const size_t padded = (static_cast<size_t>(size) + alignment - 1) & ~(alignment - 1);
    at += code::head_size + std::min(padded, left);
  }
  if (at != section.size())
    damage.add(
        fmt::format("the kernel's code makes no sense from file offset {} on; the rest of it "
                    "is not used",
                    file_offset + at),
        section.size() - at);
}

size_t KernelCode::read(uint64_t address, std::span<std::byte> out) const {
  size_t copied = 0;
  while (copied < out.size()) {
    const uint64_t at = address + copied;
    auto stretch = stretches_.upper_bound(at);
    if (stretch == stretches_.begin()) break;
    --stretch;
    const uint64_t inside = at - stretch->first;
    if (inside >= stretch->second.size()) break;
    const size_t count =
        std::min(out.size() - copied, stretch->second.size() - static_cast<size_t>(inside));
    std::memcpy(out.data() + copied, stretch->second.data() + inside, count);
    copied += count;
  }
  return copied;
}

}  // namespace post
