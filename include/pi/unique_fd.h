// SPDX-License-Identifier: MIT
// Owners of a file descriptor and of a memory mapping; move-only.
#ifndef PI_UNIQUE_FD_H
#define PI_UNIQUE_FD_H

#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <span>
#include <utility>

namespace pi {

class UniqueFd {
 public:
  UniqueFd() = default;
  explicit UniqueFd(int fd) : fd_(fd) {}
  UniqueFd(UniqueFd&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  UniqueFd& operator=(UniqueFd&& other) noexcept {
    if (this != &other) {
      reset();
      fd_ = std::exchange(other.fd_, -1);
    }
    return *this;
  }
  ~UniqueFd() { reset(); }

  explicit operator bool() const { return fd_ >= 0; }
  int get() const { return fd_; }
  int release() { return std::exchange(fd_, -1); }
  // Linux closes the descriptor whatever close() returns, so it is never called twice.
  void reset() {
    if (fd_ >= 0) ::close(std::exchange(fd_, -1));
  }

 private:
  int fd_ = -1;
};

class UniqueMapping {
 public:
  UniqueMapping() = default;
  // Takes over what mmap returned; MAP_FAILED gives an empty owner.
  UniqueMapping(void* address, size_t size)
      : address_(address == MAP_FAILED ? nullptr : address), size_(size) {}
  UniqueMapping(UniqueMapping&& other) noexcept
      : address_(std::exchange(other.address_, nullptr)), size_(other.size_) {}
  UniqueMapping& operator=(UniqueMapping&& other) noexcept {
    if (this != &other) {
      reset();
      address_ = std::exchange(other.address_, nullptr);
      size_ = other.size_;
    }
    return *this;
  }
  ~UniqueMapping() { reset(); }

  explicit operator bool() const { return address_ != nullptr; }
  std::byte* data() const { return static_cast<std::byte*>(address_); }
  size_t size() const { return address_ ? size_ : 0; }
  std::span<const std::byte> bytes() const { return {data(), size()}; }
  void reset() {
    if (address_) ::munmap(std::exchange(address_, nullptr), size_);
  }

 private:
  void* address_ = nullptr;
  size_t size_ = 0;
};

}  // namespace pi

#endif  // PI_UNIQUE_FD_H
