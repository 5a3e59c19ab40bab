// SPDX-License-Identifier: MIT
// A regular file as a ByteSource. Read with pread, not mapped: a file that shrinks while it is
// read then gives a short read instead of SIGBUS.
#ifndef POST_FILE_SOURCE_H
#define POST_FILE_SOURCE_H

#include <pi/result.h>
#include <pi/unique_fd.h>

#include <memory>

#include "byte_source.h"

namespace post {

class FileSource final : public ByteSource {
 public:
  static pi::Result<std::unique_ptr<FileSource>> open(const std::string& path);
  // Takes an open regular file; path is used in messages.
  static pi::Result<std::unique_ptr<FileSource>> from_fd(pi::UniqueFd fd, const std::string& path);

  int fd() const { return fd_.get(); }
  uint64_t size() const override { return size_; }
  // Hides what follows the first bytes, of which there are as many.
  void shorten(uint64_t size) { size_ = size; }
  size_t read(uint64_t offset, std::span<std::byte> out) override;
  const std::string& error() const override { return error_; }

 private:
  FileSource(pi::UniqueFd fd, uint64_t size) : fd_(std::move(fd)), size_(size) {}

  pi::UniqueFd fd_;
  uint64_t size_;
  std::string error_;
};

}  // namespace post

#endif  // POST_FILE_SOURCE_H
