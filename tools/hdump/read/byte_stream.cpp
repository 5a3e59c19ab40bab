// SPDX-License-Identifier: MIT
#include "byte_stream.h"

#include <fcntl.h>
#include <pi/files.h>
#include <zlib.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

namespace hdump {
namespace {

class FileStream final : public ByteStream {
 public:
  explicit FileStream(int fd) : fd_(fd) {}

  size_t read(std::span<std::byte> bytes) override {
    const pi::Transferred got = pi::read_at(fd_, position_, bytes);
    position_ += got.bytes;
    if (got.error != 0) error_ = std::strerror(got.error);
    return got.bytes;
  }
  const std::string& error() const override { return error_; }
  uint64_t file_position() const override { return position_; }

 private:
  int fd_;
  uint64_t position_ = 0;
  std::string error_;
};

// What the JVM writes for jcmd PID GC.heap_dump -gz=1, and gzip.
class GzipStream final : public ByteStream {
 public:
  explicit GzipStream(gzFile file) : file_(file) {}
  GzipStream(const GzipStream&) = delete;
  ~GzipStream() override { ::gzclose_r(file_); }

  size_t read(std::span<std::byte> bytes) override {
    size_t done = 0;
    while (done < bytes.size() && error_.empty()) {
      const auto part = static_cast<unsigned>(std::min<size_t>(bytes.size() - done, 1 << 30));
      const int got = ::gzread(file_, bytes.data() + done, part);
      if (got > 0) done += static_cast<size_t>(got);
      if (got == static_cast<int>(part)) continue;
      int code = Z_OK;
      const char* message = ::gzerror(file_, &code);
      if (code == Z_OK || code == Z_STREAM_END) break;
      error_ = code == Z_BUF_ERROR ? "the compressed data ends too early" : message;
    }
    return done;
  }
  const std::string& error() const override { return error_; }
  uint64_t file_position() const override {
    const z_off_t at = ::gzoffset(file_);
    return at < 0 ? 0 : static_cast<uint64_t>(at);
  }

 private:
  gzFile file_;
  std::string error_;
};

class LogHdStream final : public ByteStream {
 public:
  explicit LogHdStream(pi::log_hd::Reader reader) : reader_(std::move(reader)) {}

  size_t read(std::span<std::byte> bytes) override {
    size_t done = 0;
    while (done < bytes.size()) {
      if (left_.empty()) left_ = reader_.next();
      if (left_.empty()) break;
      const auto part = left_.first(std::min(left_.size(), bytes.size() - done));
      std::ranges::copy(part, bytes.begin() + static_cast<ptrdiff_t>(done));
      left_ = left_.subspan(part.size());
      done += part.size();
    }
    return done;
  }
  const std::string& error() const override { return reader_.error(); }
  uint64_t file_position() const override { return reader_.file_position(); }
  const pi::log_hd::Facts* jvm() const override { return &reader_.facts(); }

 private:
  pi::log_hd::Reader reader_;
  std::span<const std::byte> left_;
};

class MemoryStream final : public ByteStream {
 public:
  explicit MemoryStream(std::span<const std::byte> bytes) : bytes_(bytes) {}

  size_t read(std::span<std::byte> bytes) override {
    const size_t count = std::min(bytes.size(), bytes_.size() - position_);
    if (count != 0) std::memcpy(bytes.data(), bytes_.data() + position_, count);
    position_ += count;
    return count;
  }
  const std::string& error() const override { return error_; }
  uint64_t file_position() const override { return position_; }

 private:
  std::span<const std::byte> bytes_;
  size_t position_ = 0;
  std::string error_;
};

constexpr size_t chunk = 256 << 10;  // bytes that are read at a time

}  // namespace

pi::Result<std::unique_ptr<ByteStream>> open_stream(int fd) {
  std::array<std::byte, 4> start{};
  (void)pi::read_at(fd, 0, start);
  uint32_t magic = 0;
  std::memcpy(&magic, start.data(), sizeof magic);
  if (magic == pi::log_hd::head_magic) {
    auto reader = pi::log_hd::Reader::open(fd);
    if (!reader) return reader.error();
    return std::unique_ptr<ByteStream>(std::make_unique<LogHdStream>(std::move(*reader)));
  }
  if (start[0] != std::byte{0x1f} || start[1] != std::byte{0x8b})
    return std::unique_ptr<ByteStream>(std::make_unique<FileStream>(fd));
  // Its own position in the file, as several streams read it.
  pi::UniqueFd own(::open(pi::path_of(fd).c_str(), O_RDONLY | O_CLOEXEC));
  gzFile file = own ? ::gzdopen(own.get(), "r") : nullptr;
  if (file == nullptr) return pi::Error{errno, std::string(std::strerror(errno)) + "."};
  own.release();
  ::gzbuffer(file, chunk);
  return std::unique_ptr<ByteStream>(std::make_unique<GzipStream>(file));
}

std::unique_ptr<ByteStream> memory_stream(std::span<const std::byte> bytes) {
  return std::make_unique<MemoryStream>(bytes);
}

Window::Window(ByteStream& stream) : stream_(stream), buffer_(chunk) {}

bool Window::refill(size_t bytes) {
  if (bytes > largest) return false;
  const size_t left = end_ - begin_;
  std::memmove(buffer_.data(), buffer_.data() + begin_, left);
  if (buffer_.size() < bytes) buffer_.resize(std::max(bytes, chunk));
  begin_ = 0;
  end_ = left + stream_.read(std::span(buffer_).subspan(left));
  return end_ >= bytes;
}

bool Window::skip(uint64_t bytes) {
  for (;;) {
    const auto step = static_cast<size_t>(std::min<uint64_t>(bytes, available()));
    advance(step);
    bytes -= step;
    if (bytes == 0) return true;
    if (!need(1)) return false;
  }
}

}  // namespace hdump
