// SPDX-License-Identifier: MIT
// Samples on their way from signal handlers to the thread that counts them.
#include "scs/sample_buffers.h"

#include <vector>

#include <memory.h>

namespace pi::jprof {

bool SampleBuffers::open(size_t frames, size_t frame_bytes) {
  for (Lane& lane : lanes_) {
    if (!lane.ring)
      lane.ring = static_cast<uint64_t*>(callflow::map_pages(ring_words * sizeof(uint64_t)));
    if (!lane.frames) lane.frames = callflow::map_pages(frames * frame_bytes);
    if (!lane.ring || !lane.frames) return false;
  }
  return true;
}

void SampleBuffers::drain(const std::function<void(const Sample&)>& take) {
  std::vector<uint64_t> methods;
  for (Lane& lane : lanes_) {
    uint64_t at = lane.read.load(std::memory_order_relaxed);
    const uint64_t end = lane.written.load(std::memory_order_acquire);
    const auto next = [&] { return lane.ring[at++ % ring_words]; };
    while (at != end) {
      const uint64_t head = next();
      const auto outcome = static_cast<int32_t>(next());
      methods.resize(outcome > 0 ? static_cast<size_t>(outcome) : 0);
      for (uint64_t& method : methods) method = next();
      take({static_cast<uint32_t>(head >> 32), static_cast<uint32_t>(head), outcome, methods});
      lane.read.store(at, std::memory_order_release);
    }
  }
}

}  // namespace pi::jprof
