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

// Callbacks for descriptors that an owner takes and releases; this class does nothing.
struct UnwatchedFd {
  static void taken(int) {}
  // False: the descriptor is already closed, and the number may be another file's.
  static bool left(int) { return true; }
};

template <class Watch>
class BasicUniqueFd {
 public:
  BasicUniqueFd() = default;
  explicit BasicUniqueFd(int fd) : fd_(fd) {
    if (fd_ >= 0) Watch::taken(fd_);
  }
  BasicUniqueFd(BasicUniqueFd&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  template <class Other>
  explicit BasicUniqueFd(BasicUniqueFd<Other>&& other) : BasicUniqueFd(other.release()) {}
  BasicUniqueFd& operator=(BasicUniqueFd&& other) noexcept {
    if (this != &other) {
      reset();
      fd_ = std::exchange(other.fd_, -1);
    }
    return *this;
  }
  ~BasicUniqueFd() { reset(); }

  explicit operator bool() const { return fd_ >= 0; }
  int get() const { return fd_; }
  int release() {
    const int fd = std::exchange(fd_, -1);
    if (fd >= 0) Watch::left(fd);
    return fd;
  }
  // Linux closes the descriptor whatever close() returns, so it is never called twice.
  void reset() {
    if (const int fd = std::exchange(fd_, -1); fd >= 0 && Watch::left(fd)) ::close(fd);
  }

 private:
  int fd_ = -1;
};

using UniqueFd = BasicUniqueFd<UnwatchedFd>;

class UniqueMapping {
 public:
  UniqueMapping() = default;
  // Takes over the result of mmap(); MAP_FAILED gives an empty owner.
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
