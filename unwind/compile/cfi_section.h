// SPDX-License-Identifier: MIT
// Reads the entries of .eh_frame or .debug_frame, whose bytes may be damaged.
#ifndef UNWIND_CFI_SECTION_H
#define UNWIND_CFI_SECTION_H

#include <cstdint>
#include <optional>
#include <string_view>

#include "cfi_program.h"

namespace unwind {

struct CfiEntry {
  enum class Kind : uint8_t { common, function, invalid };
  Kind kind = Kind::invalid;
  uint8_t id_bytes = 4;  // of the field that tells the kinds apart
  uint64_t body = 0;     // where its contents begin, behind that field
  uint64_t next = 0;     // where it ends
  uint64_t common = 0;   // of a function: where its CIE begins
};

struct CfiFunction {
  uint64_t begin, bytes;  // of its code; begin: an address as the section has it
  std::string_view instructions;
};

// Does not own the bytes.
class CfiSection {
 public:
  // address: that of the first byte, from which addresses in .eh_frame count.
  CfiSection(std::string_view bytes, uint64_t address, bool is_eh_frame)
      : bytes_(bytes), address_(address), is_eh_frame_(is_eh_frame) {}

  // The entry at this place. False: there is none, the section ends. After an invalid one whose
  // size is not known, next is the section's end.
  bool read(uint64_t at, CfiEntry& entry) const;

  // What the functions of the CIE at this place share; not valid if there is none that this
  // library can use.
  CfiCommon common_at(uint64_t at) const;

  // common: that of the entry's CIE, which must be valid.
  std::optional<CfiFunction> function(const CfiEntry& entry, const CfiCommon& common) const;

 private:
  std::string_view bytes_;
  uint64_t address_;
  bool is_eh_frame_;
};

}  // namespace unwind

#endif  // UNWIND_CFI_SECTION_H
