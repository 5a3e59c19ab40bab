// SPDX-License-Identifier: MIT
// A stack of which only the top is in memory.
#ifndef HDUMP_GRAPH_DISK_STACK_H
#define HDUMP_GRAPH_DISK_STACK_H

#include <pi/files.h>

#include <cerrno>
#include <optional>
#include <type_traits>
#include <vector>

#include "disk_array.h"

namespace hdump {

template <class T>
class DiskStack {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  explicit DiskStack(const DiskSpace& space) : space_(space) {}

  void push(const T& element) {
    if (top_.size() == 2 * block) store();
    top_.push_back(element);
  }
  bool empty() const { return top_.empty() && stored_ == 0; }
  // Only if it is not empty, and there is no error.
  T pop() {
    if (top_.empty()) load();
    const T element = top_.back();
    top_.pop_back();
    return element;
  }
  // After an error elements are lost.
  const std::optional<pi::Error>& error() const { return error_; }

 private:
  static constexpr size_t block = kept_in_memory / sizeof(T);

  // Moves the lower half of what is in memory to the disk.
  void store() {
    if (!fd_ && !error_) {
      auto fd = space_.file(0);
      if (fd)
        fd_ = std::move(*fd);
      else
        error_ = fd.error();
    }
    const auto lower = std::as_bytes(std::span(top_).first(block));
    if (!error_)
      if (const int error = pi::write_all_at(fd_.get(), stored_ * lower.size(), lower))
        error_ = work_file_error(error);
    ++stored_;
    top_.erase(top_.begin(), top_.begin() + block);
  }
  void load() {
    top_.resize(block);
    --stored_;
    const auto bytes = std::as_writable_bytes(std::span(top_));
    const pi::Transferred got = pi::read_at(fd_.get(), stored_ * bytes.size(), bytes);
    if (got.bytes != bytes.size() && !error_)
      error_ = work_file_error(got.error != 0 ? got.error : EIO);
  }

  const DiskSpace& space_;
  std::vector<T> top_;
  uint64_t stored_ = 0;  // blocks in the file
  pi::UniqueFd fd_;
  std::optional<pi::Error> error_;
};

}  // namespace hdump

#endif  // HDUMP_GRAPH_DISK_STACK_H
