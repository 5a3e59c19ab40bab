// SPDX-License-Identifier: MIT
// Reads the encoded pointers (DW_EH_PE_*) of unwind tables from bytes that may be damaged.
#ifndef PI_DWARF_POINTER_H
#define PI_DWARF_POINTER_H

#include <cstddef>
#include <cstdint>

#include <pi/dwarf_bytes.h>

namespace pi {

// An encoding: the form in the low four bits, the base in the next three.
inline constexpr uint8_t pointer_relation_mask = 0x70;
inline constexpr uint8_t pointer_relative_to_field = 0x10;
inline constexpr uint8_t pointer_indirect = 0x80;

// Reads a number of the encoding's form; size: of an address.
inline uint64_t read_pointer_form(DwarfBytes& in, uint8_t encoding, size_t size) {
  switch (encoding & 0x0f) {
    case 0x00:
      return in.number(size);
    case 0x01:
      return in.leb128();
    case 0x02:
      return in.number(2);
    case 0x03:
      return in.number(4);
    case 0x04:
    case 0x0c:
      return in.number(8);
    case 0x09:
      return static_cast<uint64_t>(in.signed_leb128());
    case 0x0a:
      return static_cast<uint64_t>(static_cast<int16_t>(in.number(2)));
    case 0x0b:
      return static_cast<uint64_t>(static_cast<int32_t>(in.number(4)));
    default:
      return in.fail();
  }
}

// Reads an address of the file; base: address of the first byte of in. Fails for an address that
// is relative to something else than its own place.
inline uint64_t read_pointer(DwarfBytes& in, uint8_t encoding, size_t size, uint64_t base) {
  const uint8_t relation = encoding & pointer_relation_mask;
  if ((encoding & pointer_indirect) != 0 ||
      (relation != 0 && relation != pointer_relative_to_field))
    return in.fail();
  const uint64_t field = base + in.at();
  const uint64_t value = read_pointer_form(in, encoding, size);
  return dwarf_address(relation == pointer_relative_to_field ? value + field : value,
                       static_cast<uint8_t>(size));
}

}  // namespace pi

#endif  // PI_DWARF_POINTER_H
