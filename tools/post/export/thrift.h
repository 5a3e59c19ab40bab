// SPDX-License-Identifier: MIT
// Writes structures in Thrift's compact protocol, which Parquet's headers are made of.
#ifndef POST_THRIFT_H
#define POST_THRIFT_H

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace post {

// Fields are written in the order of their numbers. The outermost structure is begun by the
// constructor.
class ThriftWriter {
 public:
  enum class Type : uint8_t { i32 = 5, i64 = 6, binary = 8, list = 9, structure = 12 };

  void boolean(int field, bool value) { begin_field(field, value ? 1 : 2); }
  void i32(int field, int32_t value) {
    begin_field(field, Type::i32);
    zigzag(value);
  }
  void i64(int field, int64_t value) {
    begin_field(field, Type::i64);
    zigzag(value);
  }
  void binary(int field, std::string_view value) {
    begin_field(field, Type::binary);
    text(value);
  }
  void begin(int field) {
    begin_field(field, Type::structure);
    begin_element();
  }
  // Followed by as many elements: structures, each between begin_element() and end(), or values.
  void list(int field, Type type, size_t elements) {
    begin_field(field, Type::list);
    const auto low = static_cast<char>(type);
    if (elements < 15) {
      bytes_ += static_cast<char>(elements << 4 | low);
      return;
    }
    bytes_ += static_cast<char>(0xf0 | low);
    varint(elements);
  }
  void begin_element() { last_.push_back(0); }
  void end() {
    bytes_ += '\0';
    last_.pop_back();
  }
  void element(int32_t value) { zigzag(value); }
  void element(std::string_view value) { text(value); }

  // Ends the outermost structure.
  const std::string& finish() {
    end();
    return bytes_;
  }

 private:
  void varint(uint64_t value) {
    for (; value >= 0x80; value >>= 7) bytes_ += static_cast<char>(value | 0x80);
    bytes_ += static_cast<char>(value);
  }
  void zigzag(int64_t value) {
    varint(static_cast<uint64_t>(value) << 1 ^ static_cast<uint64_t>(value >> 63));
  }
  void text(std::string_view value) {
    varint(value.size());
    bytes_ += value;
  }
  void begin_field(int field, Type type) { begin_field(field, static_cast<uint8_t>(type)); }
  // The number as the distance from the field before, which is below 16 in all of Parquet.
  void begin_field(int field, uint8_t type) {
    bytes_ += static_cast<char>((field - last_.back()) << 4 | type);
    last_.back() = field;
  }

  std::string bytes_;
  std::vector<int> last_{0};  // the last field of each open structure
};

}  // namespace post

#endif  // POST_THRIFT_H
