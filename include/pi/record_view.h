// SPDX-License-Identifier: MIT
// One trace record in a bounded byte range, and its ints and strings. decode.h and decode_itrace.h
// give them their meaning.
#ifndef PI_RECORD_VIEW_H
#define PI_RECORD_VIEW_H

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>

#include <pitrace/encode.h>

namespace pi {

// One record of a stream. length() is at least the header's and at most the range's.
class RecordView {
 public:
  // The record at the start of the range; valid() is false when none starts there: the range is too
  // short, or the length is below the header's, not a multiple of four, or beyond the range.
  explicit RecordView(std::span<const std::byte> range) : data_(range.data()) {
    if (range.size() < sizeof(pitrace_record)) return;
    std::memcpy(&header_, range.data(), sizeof header_);
    const uint32_t length = header_.type_length & PITRACE_LENGTH_MASK;
    if (length >= sizeof(pitrace_record) && length <= range.size()) length_ = length;
  }

  bool valid() const { return length_ != 0; }
  uint32_t length() const { return length_; }
  uint32_t type() const { return header_.type_length & PITRACE_TYPE_MASK; }
  uint32_t major() const { return header_.major; }
  uint32_t minor() const { return header_.minor; }
  uint32_t time_lo() const { return header_.time_lo; }
  std::span<const std::byte> bytes() const { return {data_, length_}; }

  // The number of ints; 0 for a record of strings whose count does not fit its length.
  [[gnu::always_inline]] uint32_t int_count() const {
    const auto room = static_cast<uint32_t>((length_ - sizeof(pitrace_record)) / 4);
    if (type() != PITRACE_TYPE_STRINGS) return room;
    if (room == 0) return 0;
    const uint32_t count = word(0);
    return count <= room - 1 ? count : 0;
  }

  // The int at index, which must be below int_count().
  uint32_t int_at(uint32_t index) const {
    return word(type() == PITRACE_TYPE_STRINGS ? index + 1 : index);
  }

  // Two ints, high half first.
  uint64_t long_at(uint32_t index) const {
    return static_cast<uint64_t>(int_at(index)) << 32 | int_at(index + 1);
  }

  // The same, low half first, as most numbers in ITrace's records.
  uint64_t low_first_at(uint32_t index) const {
    return static_cast<uint64_t>(int_at(index + 1)) << 32 | int_at(index);
  }

  // The index-th string of a record of strings; false when there is none or it does not fit.
  bool string_at(uint32_t index, std::string_view& out) const {
    if (type() != PITRACE_TYPE_STRINGS || length_ < sizeof(pitrace_record) + 4) return false;
    uint64_t at = sizeof(pitrace_record) + 4 + 4ull * int_count();
    if (word(0) != int_count()) return false;
    for (;; --index) {
      if (at + 4 > length_) return false;
      uint32_t size;
      std::memcpy(&size, data_ + at, 4);
      at += 4;
      if (size > length_ - at) return false;
      if (index == 0) {
        out = {reinterpret_cast<const char*>(data_ + at), size};
        return true;
      }
      at += (static_cast<uint64_t>(size) + 3) & ~3ull;
    }
  }

 private:
  uint32_t word(uint32_t index) const {
    uint32_t value;
    std::memcpy(&value, data_ + sizeof(pitrace_record) + 4ull * index, 4);
    return value;
  }

  const std::byte* data_;
  pitrace_record header_{};
  uint32_t length_ = 0;
};

}  // namespace pi

#endif  // PI_RECORD_VIEW_H
