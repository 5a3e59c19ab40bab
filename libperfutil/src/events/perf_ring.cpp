// SPDX-License-Identifier: MIT
// Reads the ring that the kernel fills for a perf event, including records that wrap around its
// end.
#include "perf_ring.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cstring>

namespace pi::perfutil {

PerfRing::PerfRing(UniqueMapping mapping, size_t page_size) : mapping_(std::move(mapping)) {
  control_ = reinterpret_cast<perf_event_mmap_page*>(mapping_.data());
  data_ = mapping_.data() + page_size;
  mask_ = mapping_.size() - page_size - 1;
}

PerfRing PerfRing::map(int fd, size_t data_bytes) {
  const auto page = static_cast<size_t>(::sysconf(_SC_PAGESIZE));
  const size_t size = page + data_bytes;
  void* memory = ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (memory == MAP_FAILED) return {};
  return PerfRing(UniqueMapping(memory, size), page);
}

std::span<const std::byte> PerfRing::at(uint64_t position, size_t size) {
  const size_t start = position & mask_;
  const size_t to_end = mask_ + 1 - start;
  if (size <= to_end) return {data_ + start, size};
  joined_.resize(size);
  std::memcpy(joined_.data(), data_ + start, to_end);
  std::memcpy(joined_.data() + to_end, data_, size - to_end);
  return joined_;
}

bool PerfRing::drain(const Handler& handler) {
  if (!mapping_) return true;
  // Acquire: pairs with the kernel's barrier between writing the records and moving data_head.
  const uint64_t head = __atomic_load_n(&control_->data_head, __ATOMIC_ACQUIRE);
  uint64_t tail = control_->data_tail;  // only we write it
  bool sane = head - tail <= mask_ + 1;
  while (sane && tail != head) {
    perf_event_header header{};
    sane = head - tail >= sizeof header;
    if (!sane) break;
    std::memcpy(&header, at(tail, sizeof header).data(), sizeof header);
    sane = header.size >= sizeof header && header.size <= head - tail;
    if (!sane) break;
    handler(at(tail, header.size));
    tail += header.size;
  }
  // Release: our reads are complete before the kernel may overwrite the records.
  __atomic_store_n(&control_->data_tail, head, __ATOMIC_RELEASE);
  return sane;
}

}  // namespace pi::perfutil
