// SPDX-License-Identifier: MIT
// Builds DWARF units and line tables that no compiler writes.
#ifndef TESTS_SUPPORT_DWARF_BUILDER_H
#define TESTS_SUPPORT_DWARF_BUILDER_H

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "elf_builder.h"

namespace dwarf_builder {

template <class T>
std::string raw(const T& value) {
  return ElfBuilder::raw(value);
}

// Prefixes bytes with their 32-bit length.
inline std::string with_length(const std::string& bytes) {
  return raw(static_cast<uint32_t>(bytes.size())) + bytes;
}

// A DWARF 4 unit with its abbreviations at offset 0; entries: the root entry and its children.
inline std::string unit4(const std::string& entries, uint8_t address_size = 8) {
  return with_length(raw(uint16_t{4}) + raw(uint32_t{0}) + raw(address_size) + entries);
}

// A DWARF 5 unit without an id.
inline std::string unit5(const std::string& entries, uint8_t address_size = 8) {
  return with_length(raw(uint16_t{5}) + '\x01' + raw(address_size) + raw(uint32_t{0}) + entries);
}

constexpr uint8_t skeleton = 4;
constexpr uint8_t split = 5;

// A DWARF 5 unit of one of these types, with an id.
inline std::string unit5(uint8_t type, uint64_t id, const std::string& entries) {
  return with_length(raw(uint16_t{5}) + raw(type) + raw(uint8_t{8}) + raw(uint32_t{0}) + raw(id) +
                     entries);
}

// An abbreviation: attributes are pairs of name and form.
inline std::string abbreviation(char code, char tag, bool children,
                                const std::vector<std::pair<unsigned, unsigned>>& attributes) {
  const auto leb128 = [](unsigned value) {
    std::string bytes;
    for (; value >= 128; value /= 128) bytes += static_cast<char>(value % 128 + 128);
    return bytes + static_cast<char>(value);
  };
  std::string bytes{code, tag, static_cast<char>(children)};
  for (const auto& [name, form] : attributes) bytes += leb128(name) + leb128(form);
  return bytes + std::string(2, '\0');
}

// A sequence of a line table: an address of four or eight bytes, operations, end of sequence.
template <class Address>
std::string sequence(Address address, const std::string& operations) {
  return std::string(1, '\0') + static_cast<char>(1 + sizeof address) + '\x02' + raw(address) +
         operations + std::string("\0\x01\x01", 3);
}

// A DWARF 4 line table of one file, "code.c".
inline std::string lines4(const std::string& sequences) {
  const std::string head("\1\1\1\xfb\x0e\x0d\0\1\1\1\1\0\0\0\1\0\0\1\0code.c\0\0\0\0\0", 30);
  return with_length(raw(uint16_t{4}) + raw(static_cast<uint32_t>(head.size())) + head + sequences);
}

}  // namespace dwarf_builder

#endif  // TESTS_SUPPORT_DWARF_BUILDER_H
