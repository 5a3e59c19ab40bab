// SPDX-License-Identifier: MIT
// Reads the entries of .eh_frame or .debug_frame.
#include "cfi_section.h"

#include <pi/dwarf_pointer.h>

#include "table/registers_x86.h"

namespace unwind {
namespace {

constexpr size_t address_size = 8;

// The letters of an augmentation, and what the data have for each.
bool read_augmentation(std::string_view letters, std::string_view bytes, CfiCommon& common) {
  pi::DwarfBytes data(bytes);
  for (const char letter : letters) {
    if (letter == 'R') common.pointer_encoding = static_cast<uint8_t>(data.number(1));
    if (letter == 'L') data.skip(1);
    if (letter == 'P')
      pi::read_pointer_form(data, static_cast<uint8_t>(data.number(1)), address_size);
    if (letter == 'S') common.signal = true;
    if (std::string_view("RLPSB").find(letter) == std::string_view::npos) return false;
  }
  return data.good();
}

}  // namespace

bool CfiSection::read(uint64_t at, CfiEntry& entry) const {
  entry = {};
  if (at >= bytes_.size()) return false;
  entry.next = bytes_.size();
  pi::DwarfBytes in(bytes_, at);
  const uint64_t size = in.length(entry.id_bytes);
  if (is_eh_frame_ && in.good() && size == 0) return false;
  if (!in.good() || size > in.left()) return true;
  entry.next = in.at() + size;
  const uint64_t field = in.at();
  // The field has four bytes in .eh_frame even where the length has eight.
  if (is_eh_frame_) entry.id_bytes = 4;
  if (size < entry.id_bytes) return true;
  const uint64_t id = in.number(entry.id_bytes);
  entry.body = in.at();
  const uint64_t common_id = is_eh_frame_ ? 0 : entry.id_bytes == 4 ? UINT32_MAX : UINT64_MAX;
  if (id == common_id) {
    entry.kind = CfiEntry::Kind::common;
  } else if (!is_eh_frame_ || id <= field) {
    entry.kind = CfiEntry::Kind::function;
    entry.common = is_eh_frame_ ? field - id : id;
  }
  return true;
}

CfiCommon CfiSection::common_at(uint64_t at) const {
  CfiCommon common;
  CfiEntry entry;
  if (!read(at, entry) || entry.kind != CfiEntry::Kind::common) return common;
  const std::string_view bytes = bytes_.substr(0, entry.next);
  pi::DwarfBytes in(bytes, entry.body);
  const uint64_t version = in.number(1);
  std::string_view letters = in.text();
  if (version != 1 && version != 3 && version != 4) return common;
  // The sizes of an address and of a segment's number.
  if (version == 4 && (in.number(1) != address_size || in.number(1) != 0)) return common;
  common.code_alignment = in.leb128();
  common.data_alignment = in.signed_leb128();
  const uint64_t caller = version == 1 ? in.number(1) : in.leb128();
  if (!letters.empty() && letters.front() != 'z') return common;
  if (!letters.empty()) {
    common.has_augmentation_size = true;
    const uint64_t size = in.leb128();
    const uint64_t data = in.at();
    in.skip(size);
    if (!in.good() || !read_augmentation(letters.substr(1), bytes.substr(data, size), common))
      return common;
  }
  if (!in.good() || caller != return_address) return common;
  common.initial = CfiProgram::initial_rule(common, bytes.substr(in.at()));
  common.valid = true;
  return common;
}

std::optional<CfiFunction> CfiSection::function(const CfiEntry& entry,
                                                const CfiCommon& common) const {
  const std::string_view bytes = bytes_.substr(0, entry.next);
  pi::DwarfBytes in(bytes, entry.body);
  CfiFunction function{};
  function.begin = pi::read_pointer(in, common.pointer_encoding, address_size, address_);
  function.bytes = pi::read_pointer_form(in, common.pointer_encoding, address_size);
  if (common.has_augmentation_size) in.skip(in.leb128());
  if (!in.good() || function.begin + function.bytes < function.begin) return std::nullopt;
  function.instructions = bytes.substr(in.at());
  return function;
}

}  // namespace unwind
