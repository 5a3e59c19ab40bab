// SPDX-License-Identifier: MIT
// One CPU's buffer as it is mapped, from the module or our own: a head page, the data, and the data
// a second time.
#ifndef PI_PERFUTIL_RING_MEMORY_H
#define PI_PERFUTIL_RING_MEMORY_H

#include <cstdint>
#include <vector>

#include <pi/result.h>
#include <pi/unique_fd.h>
#include <pitrace/abi.h>

#include "collector.h"

namespace pi::perfutil {

// Bytes to map for a buffer with the given number of data bytes.
constexpr uint64_t ring_mapping_bytes(uint64_t data_bytes) {
  return PITRACE_HEAD_BYTES + 2 * data_bytes;
}

// Zeroed memory for a buffer of this process, without a head. data_bytes must be a multiple of the
// page size. PU_ERROR_NOT_ENOUGH_MEMORY.
Result<UniqueMapping> map_own_ring(uint64_t data_bytes);

// The reader's side of one mapped buffer. Any thread may use it; only one thread at a time may
// consume what was read.
class RingMemory {
 public:
  explicit RingMemory(const UniqueMapping& mapping) : mapping_(&mapping) {}

  const pitrace_buffer_head& head() const {
    return *reinterpret_cast<const pitrace_buffer_head*>(mapping_->data());
  }
  // The records that are committed and not consumed; in a buffer without a consumer, all of them.
  // Not for a buffer that wraps around.
  BufferView unread() const;
  // A copy of the records of a buffer that wraps around, while writers may be active. It begins
  // with a fake time record.
  BufferCopy copy() const;

 private:
  std::span<const std::byte> at(uint64_t position, uint64_t bytes) const;

  const UniqueMapping* mapping_;
};

}  // namespace pi::perfutil

#endif  // PI_PERFUTIL_RING_MEMORY_H
