// SPDX-License-Identifier: MIT
// Reads the ring that the kernel fills for a perf event, including records that wrap around its
// end.
#ifndef PI_PERFUTIL_PERF_RING_H
#define PI_PERFUTIL_PERF_RING_H

#include <linux/perf_event.h>

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include <pi/unique_fd.h>

namespace pi::perfutil {

// One page of perf_event_mmap_page, then a power of two of data bytes. One reader at a time.
class PerfRing {
 public:
  using Handler = std::function<void(std::span<const std::byte> record)>;

  PerfRing() = default;
  // mapping: a page of control data and then the ring; size() - page_size must be a power of two.
  PerfRing(UniqueMapping mapping, size_t page_size);

  // Maps the ring of a perf event; an empty PerfRing and errno when that fails.
  static PerfRing map(int fd, size_t data_bytes);

  explicit operator bool() const { return static_cast<bool>(mapping_); }

  // Passes every whole record to the handler, then releases the space to the kernel. A record is
  // contiguous, starts with perf_event_header and is at least that long; it is valid during the
  // call only. Returns false when the contents of the ring are invalid; they are then skipped.
  bool drain(const Handler& handler);

 private:
  std::span<const std::byte> at(uint64_t position, size_t size);

  UniqueMapping mapping_;
  perf_event_mmap_page* control_ = nullptr;
  const std::byte* data_ = nullptr;
  uint64_t mask_ = 0;
  std::vector<std::byte> joined_;  // a record whose bytes wrap
};

}  // namespace pi::perfutil

#endif  // PI_PERFUTIL_PERF_RING_H
