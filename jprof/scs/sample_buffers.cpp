// SPDX-License-Identifier: MIT
// Samples on their way from signal handlers to the thread that counts them.
#include "scs/sample_buffers.h"

#include <span>
#include <vector>

#include <memory.h>

namespace pi::jprof {

bool SampleBuffers::open(size_t frames, size_t frame_bytes, size_t capture_words) {
  const auto map_words = [](size_t words) {
    return static_cast<uint64_t*>(callflow::map_pages(words * sizeof(uint64_t)));
  };
  for (Lane& lane : lanes_) {
    if (!lane.ring) lane.ring = map_words(ring_words);
    if (!lane.frames) lane.frames = callflow::map_pages(frames * frame_bytes);
    if (!lane.capture && capture_words > 0) lane.capture = map_words(capture_words);
    if (!lane.ring || !lane.frames || (!lane.capture && capture_words > 0)) return false;
  }
  return true;
}

void SampleBuffers::drain(const std::function<void(const Sample&)>& take) {
  std::vector<uint64_t> words;
  for (Lane& lane : lanes_) {
    uint64_t at = lane.read.load(std::memory_order_relaxed);
    const uint64_t end = lane.written.load(std::memory_order_acquire);
    const auto next = [&] { return lane.ring[at++ % ring_words]; };
    while (at != end) {
      const uint64_t head = next();
      const uint64_t sizes = next();
      const auto outcome = static_cast<int32_t>(sizes);
      const size_t methods = outcome > 0 ? static_cast<size_t>(outcome) : 0;
      words.resize(methods + (sizes >> 32));
      for (uint64_t& word : words) word = next();
      const std::span<const uint64_t> all = words;
      take({static_cast<uint32_t>(head >> 32), static_cast<uint32_t>(head), outcome,
            all.first(methods), all.subspan(methods)});
      lane.read.store(at, std::memory_order_release);
    }
  }
}

}  // namespace pi::jprof
