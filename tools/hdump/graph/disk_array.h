// SPDX-License-Identifier: MIT
// Arrays in files without a name, so that the kernel can move what is not in use out of memory.
#ifndef HDUMP_GRAPH_DISK_ARRAY_H
#define HDUMP_GRAPH_DISK_ARRAY_H

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <pi/result.h>
#include <pi/unique_fd.h>

namespace hdump {

// The directory of the files.
class DiskSpace {
 public:
  // The error's message is a sentence.
  static pi::Result<DiskSpace> in(const std::string& directory);

  const std::string& directory() const { return directory_; }
  // A file without a name, of `bytes` bytes that are all allocated: a mapping of it cannot fail
  // later.
  pi::Result<pi::UniqueFd> file(uint64_t bytes) const;

 private:
  explicit DiskSpace(std::string directory) : directory_(std::move(directory)) {}
  std::string directory_;
};

// Arrays up to this size are no files.
constexpr uint64_t kept_in_memory = 1 << 20;

// A mapping of a whole file, which ends with the object.
class Mapping {
 public:
  Mapping() = default;
  Mapping(Mapping&& other) noexcept
      : at_(std::exchange(other.at_, nullptr)), bytes_(std::exchange(other.bytes_, 0)) {}
  Mapping& operator=(Mapping&& other) noexcept {
    std::swap(at_, other.at_);
    std::swap(bytes_, other.bytes_);
    return *this;
  }
  ~Mapping();
  static pi::Result<Mapping> of(int fd, uint64_t bytes);
  void* data() const { return at_; }

 private:
  void* at_ = nullptr;
  uint64_t bytes_ = 0;
};

// A fixed number of elements, all zero at first.
template <class T>
class DiskArray {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  DiskArray() = default;
  static pi::Result<DiskArray> make(const DiskSpace& space, uint64_t size) {
    if (size * sizeof(T) <= kept_in_memory) return of(-1, size);
    const auto fd = space.file(size * sizeof(T));
    if (!fd) return fd.error();
    return of(fd->get(), size);
  }
  // The elements of a file, which is changed with them; in memory for the descriptor -1.
  static pi::Result<DiskArray> of(int fd, uint64_t size) {
    auto mapping = Mapping::of(fd, size * sizeof(T));
    if (!mapping) return mapping.error();
    DiskArray array;
    array.mapping_ = std::move(*mapping);
    array.size_ = size;
    return array;
  }

  T& operator[](uint64_t i) { return data()[i]; }
  const T& operator[](uint64_t i) const { return data()[i]; }
  T* data() { return static_cast<T*>(mapping_.data()); }
  const T* data() const { return static_cast<const T*>(mapping_.data()); }
  uint64_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  T* begin() { return data(); }
  T* end() { return data() + size_; }
  const T* begin() const { return data(); }
  const T* end() const { return data() + size_; }
  // Fewer elements; the others stay on the disk.
  void shrink(uint64_t size) { size_ = size; }

 private:
  Mapping mapping_;
  uint64_t size_ = 0;
};

// The sentence for an error number of work on these files.
pi::Error work_file_error(int error);

// Writes whole buffers to a file; returns 0 or an error number.
int append(int fd, std::span<const std::byte> bytes);

// An array that is written from its beginning to its end, and then read in any order. Errors are
// kept for finish().
template <class T>
class DiskAppender {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  explicit DiskAppender(const DiskSpace& space) : space_(space) {}

  void push_back(const T& element) {
    buffer_.push_back(element);
    if (buffer_.size() == buffered) flush();
  }
  void append(std::span<const T> elements) {
    buffer_.insert(buffer_.end(), elements.begin(), elements.end());
    if (buffer_.size() >= buffered) flush();
  }
  uint64_t size() const { return written_ + buffer_.size(); }

  pi::Result<DiskArray<T>> finish() {
    if (written_ == 0) {
      auto array = DiskArray<T>::of(-1, buffer_.size());
      if (array) std::ranges::copy(buffer_, array->begin());
      return array;
    }
    flush();
    if (error_) return *error_;
    return DiskArray<T>::of(fd_.get(), written_);
  }

 private:
  static constexpr size_t buffered = kept_in_memory / sizeof(T);

  void flush() {
    if (!fd_ && !error_) {
      auto fd = space_.file(0);
      if (fd)
        fd_ = std::move(*fd);
      else
        error_ = fd.error();
    }
    if (!error_)
      if (const int error = hdump::append(fd_.get(), std::as_bytes(std::span(buffer_))))
        error_ = work_file_error(error);
    written_ += buffer_.size();
    buffer_.clear();
  }

  const DiskSpace& space_;
  pi::UniqueFd fd_;
  std::vector<T> buffer_;
  uint64_t written_ = 0;
  std::optional<pi::Error> error_;
};

}  // namespace hdump

#endif  // HDUMP_GRAPH_DISK_ARRAY_H
