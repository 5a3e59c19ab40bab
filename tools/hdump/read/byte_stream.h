// SPDX-License-Identifier: MIT
// A heap dump as a sequence of bytes, which may be stored compressed, and a window on it.
#ifndef HDUMP_READ_BYTE_STREAM_H
#define HDUMP_READ_BYTE_STREAM_H

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <pi/log_hd.h>
#include <pi/result.h>
#include <pi/unique_fd.h>

namespace hdump {

// Not thread-safe.
class ByteStream {
 public:
  virtual ~ByteStream() = default;
  // Fills `bytes` with the next bytes of the dump; fewer at its end, and where the rest cannot be
  // read, which error() describes.
  virtual size_t read(std::span<std::byte> bytes) = 0;
  // Why the stream ended early; empty if it did not.
  virtual const std::string& error() const = 0;
  // How many bytes of the file have been read, for progress.
  virtual uint64_t file_position() const = 0;
  // What the file says on the JVM; nullptr for an .hprof, which has none of it.
  virtual const pi::log_hd::Facts* jvm() const { return nullptr; }
};

// Opens the stream of a file, an .hprof, which may be compressed by gzip, or a log-hd, at its
// beginning, whatever the descriptor's position is. fd must stay open as long as the stream exists.
// The error's message is a sentence.
pi::Result<std::unique_ptr<ByteStream>> open_stream(int fd);

// The bytes of memory, for tests.
std::unique_ptr<ByteStream> memory_stream(std::span<const std::byte> bytes);

// A window on a stream: the next bytes, contiguous.
class Window {
 public:
  // The largest number of bytes that need() takes.
  static constexpr size_t largest = 4 << 20;

  explicit Window(ByteStream& stream);

  // True if at least `bytes` further bytes exist; they are at data() then. Invalidates data().
  bool need(size_t bytes) { return end_ - begin_ >= bytes || refill(bytes); }
  const std::byte* data() const { return buffer_.data() + begin_; }
  // How many bytes are at data() without reading.
  size_t available() const { return end_ - begin_; }
  // At most available() bytes.
  void advance(size_t bytes) {
    begin_ += bytes;
    position_ += bytes;
  }
  // Skips bytes; false if the stream ends before.
  bool skip(uint64_t bytes);
  // Bytes of the dump before data().
  uint64_t position() const { return position_; }

 private:
  bool refill(size_t bytes);

  ByteStream& stream_;
  std::vector<std::byte> buffer_;
  size_t begin_ = 0;
  size_t end_ = 0;
  uint64_t position_ = 0;
};

}  // namespace hdump

#endif  // HDUMP_READ_BYTE_STREAM_H
