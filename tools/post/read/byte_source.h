// SPDX-License-Identifier: MIT
// Bytes that can be read at any offset: a file in the tool, memory in tests and fuzzing.
#ifndef POST_BYTE_SOURCE_H
#define POST_BYTE_SOURCE_H

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>

namespace post {

class ByteSource {
 public:
  virtual ~ByteSource() = default;

  // The number of bytes when the source was opened.
  virtual uint64_t size() const = 0;

  // Copies bytes from offset on, up to the size of out. Fewer bytes mean that the source ends or
  // cannot be read there; error() then has the reason, and is empty at the end.
  virtual size_t read(uint64_t offset, std::span<std::byte> out) = 0;
  virtual const std::string& error() const = 0;
};

// Does not own the bytes.
class MemorySource final : public ByteSource {
 public:
  explicit MemorySource(std::span<const std::byte> bytes) : bytes_(bytes) {}

  uint64_t size() const override { return bytes_.size(); }
  size_t read(uint64_t offset, std::span<std::byte> out) override {
    if (offset >= bytes_.size() || out.empty()) return 0;
    const size_t count = std::min(out.size(), bytes_.size() - static_cast<size_t>(offset));
    std::memcpy(out.data(), bytes_.data() + offset, count);
    return count;
  }
  const std::string& error() const override { return error_; }

 private:
  std::span<const std::byte> bytes_;
  std::string error_;
};

}  // namespace post

#endif  // POST_BYTE_SOURCE_H
