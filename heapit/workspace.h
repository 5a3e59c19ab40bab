// SPDX-License-Identifier: MIT
// The memory of a search for leaked blocks: one piece, which the search itself leaves out.
#ifndef PI_HEAPIT_WORKSPACE_H
#define PI_HEAPIT_WORKSPACE_H

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

#include "pages.h"

namespace pi::heapit {

struct Range {
  uint64_t begin, end;
};

class Workspace {
 public:
  explicit Workspace(size_t bytes) : memory_(map_pages(bytes)), bytes_(memory_ ? bytes : 0) {}
  ~Workspace() { unmap_pages(memory_, bytes_); }
  Workspace(const Workspace&) = delete;
  Workspace& operator=(const Workspace&) = delete;
  explicit operator bool() const { return memory_ != nullptr; }

  // Zeroed; empty: there is no space.
  template <class T>
  std::span<T> take(size_t count) {
    const size_t begin = (used_ + alignof(T) - 1) / alignof(T) * alignof(T);
    if (begin > bytes_ || count > (bytes_ - begin) / sizeof(T)) return {};
    used_ = begin + count * sizeof(T);
    return {reinterpret_cast<T*>(memory_ + begin), count};
  }

  Range range() const {
    const auto begin = reinterpret_cast<uint64_t>(memory_);
    return {begin, begin + bytes_};
  }

 private:
  std::byte* const memory_;
  const size_t bytes_;
  size_t used_ = 0;
};

// Elements one behind the other in such memory.
template <class T>
class List {
 public:
  List() = default;
  explicit List(std::span<T> space) : space_(space) {}

  // False: there is no space.
  bool push(const T& value) {
    if (size_ == space_.size()) return false;
    space_[size_++] = value;
    return true;
  }
  void clear() { size_ = 0; }
  T* begin() { return space_.data(); }
  T* end() { return space_.data() + size_; }
  const T* begin() const { return space_.data(); }
  const T* end() const { return space_.data() + size_; }
  size_t size() const { return size_; }
  size_t capacity() const { return space_.size(); }
  T& operator[](size_t index) { return space_[index]; }

 private:
  std::span<T> space_;
  size_t size_ = 0;
};

}  // namespace pi::heapit

#endif  // PI_HEAPIT_WORKSPACE_H
