// SPDX-License-Identifier: MIT
// The file of this process, mapped: a header, then records one behind the other.
#ifndef PI_HEAPIT_LOG_H
#define PI_HEAPIT_LOG_H

#include <sys/types.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include <pi/heap_log.h>

namespace pi::heapit {

// Numbers that any thread may change.
inline void add(uint64_t& number, uint64_t value) {
  std::atomic_ref(number).fetch_add(value, std::memory_order_relaxed);
}
inline void subtract(uint64_t& number, uint64_t value) {
  std::atomic_ref(number).fetch_sub(value, std::memory_order_relaxed);
}
void raise_to(uint64_t& number, uint64_t value);

// Counts a wait.
void add_wait(heap_log::Path& path, uint64_t nanoseconds);

class Log {
 public:
  // Creates DIRECTORY/heap.PID.N, the first N of which there is no file, for that process. False,
  // with errno: it cannot be created.
  bool create(const char* directory, pid_t pid);
  const char* path() const { return path_.data(); }

  // Where it is mapped.
  uint64_t begin() const { return reinterpret_cast<uint64_t>(memory_); }
  uint64_t end() const { return begin() + max_bytes; }

  heap_log::Header& header() const { return *reinterpret_cast<heap_log::Header*>(memory_); }

  // A record of this type at the end of the file, zero behind Record; null: no space. finish()
  // makes it visible. One thread at a time.
  template <class T>
  T* begin(heap_log::RecordType type, size_t more_bytes) {
    return reinterpret_cast<T*>(begin_record(type, sizeof(T) + more_bytes));
  }
  void finish(const heap_log::Record& record);

  // As the index of Paths has it.
  uint32_t place_of(const void* record) const {
    return static_cast<uint32_t>((static_cast<const std::byte*>(record) - memory_) /
                                 heap_log::alignment);
  }
  heap_log::Path* path_at(uint32_t place) const {
    return reinterpret_cast<heap_log::Path*>(memory_ + size_t{place} * heap_log::alignment);
  }

 private:
  static constexpr size_t max_bytes = 64 << 20;

  heap_log::Record* begin_record(heap_log::RecordType type, size_t bytes);
  bool open_new(const char* directory, int pid);
  bool grow(size_t bytes);

  // The program may close any descriptor, so none is kept: the file is opened again to grow.
  std::array<char, 4096> path_{};
  dev_t device_ = 0;
  ino_t inode_ = 0;
  std::byte* memory_ = nullptr;
  size_t size_ = 0;  // of the file
};

}  // namespace pi::heapit

#endif  // PI_HEAPIT_LOG_H
