// SPDX-License-Identifier: MIT
// A cursor that reads DWARF numbers and strings from bytes that may be damaged.
#ifndef PI_DWARF_BYTES_H
#define PI_DWARF_BYTES_H

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace pi {

// The first read beyond the end makes good() false; later reads return 0 or an empty string.
// Numbers are little-endian.
class DwarfBytes {
 public:
  explicit DwarfBytes(std::string_view bytes, uint64_t at = 0) : bytes_(bytes), at_(at) {
    if (at > bytes.size()) fail();
  }

  bool good() const { return good_; }
  uint64_t at() const { return at_; }
  uint64_t left() const { return bytes_.size() - at_; }

  // size: in bytes, at most 8.
  uint64_t number(size_t size) {
    uint64_t value = 0;
    if (left() < size) return fail();
    std::memcpy(&value, bytes_.data() + at_, size);
    at_ += size;
    return value;
  }
  uint64_t leb128() {
    uint64_t value = 0;
    for (unsigned shift = 0; good_; shift += 7) {
      const uint64_t byte = number(1);
      if (shift < 64) value |= (byte & 0x7f) << shift;
      if (byte < 0x80) break;
    }
    return value;
  }
  int64_t signed_leb128() {
    uint64_t value = 0;
    for (unsigned shift = 0; good_;) {
      const uint64_t byte = number(1);
      if (shift < 64) value |= (byte & 0x7f) << shift;
      shift += 7;
      if (byte >= 0x80) continue;
      if (shift < 64 && (byte & 0x40) != 0) value |= ~uint64_t{0} << shift;
      break;
    }
    return static_cast<int64_t>(value);
  }
  std::string_view text() {
    const size_t end = good_ ? bytes_.find('\0', at_) : bytes_.npos;
    if (end == bytes_.npos) return fail(), std::string_view();
    const std::string_view value = bytes_.substr(at_, end - at_);
    at_ = end + 1;
    return value;
  }
  // The initial length of a unit or a table; sets the size of its offsets (DWARF32: 4, DWARF64: 8).
  uint64_t length(uint8_t& offset_size) {
    offset_size = 4;
    const uint64_t length = number(4);
    if (length < 0xfffffff0) return length;
    if (length != 0xffffffff) return fail();
    offset_size = 8;
    return number(8);
  }
  void skip(uint64_t size) {
    if (size > left()) fail();
    if (good_) at_ += size;
  }
  uint64_t fail() {
    good_ = false;
    at_ = bytes_.size();
    return 0;
  }

 private:
  std::string_view bytes_;
  uint64_t at_;
  bool good_ = true;
};

// Truncates a sum of 4-byte addresses to 4 bytes.
inline uint64_t dwarf_address(uint64_t sum, uint8_t address_size) {
  return address_size == 4 ? static_cast<uint32_t>(sum) : sum;
}

// The NUL-terminated string at an offset; empty if there is none.
inline std::string_view dwarf_text(std::string_view strings, uint64_t offset) {
  return offset < strings.size() ? DwarfBytes(strings, offset).text() : std::string_view();
}

}  // namespace pi

#endif  // PI_DWARF_BYTES_H
