// SPDX-License-Identifier: MIT
// Samples on their way from signal handlers to the thread that counts them.
#ifndef PI_JPROF_SAMPLE_BUFFERS_H
#define PI_JPROF_SAMPLE_BUFFERS_H

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>

namespace pi::jprof {

struct Sample {
  uint32_t tid;
  uint32_t periods;                   // how many have passed since the sample before
  int32_t outcome;                    // above 0: frames that were found; else why there are none
  std::span<const uint64_t> methods;  // innermost first
  std::span<const uint64_t> capture;  // of a thread in native code, see capture()
};

// A handler takes one of several buffers that no other handler is just using, without waiting. Each
// buffer has space for the frames that the JVM finds and for a capture, and a ring of samples.
class SampleBuffers {
 public:
  static constexpr size_t lane_count = 16;
  static constexpr size_t ring_words = size_t{1} << 17;  // 1 MB; all buffers are pages on demand

  // frames: the most of one sample; frame_bytes: size of one as the JVM finds it; capture_words:
  // the most of a capture. False if there is no memory. Not while handlers run.
  bool open(size_t frames, size_t frame_bytes, size_t capture_words);

  // In a signal handler. walk: gets the space for frames, and returns the outcome; method_at:
  // returns the method of a frame in that space; capture: gets the space for a capture, and returns
  // how many words it has. False, and counted, if the sample is lost.
  template <class Walk, class MethodAt, class Capture>
  bool record(uint32_t tid, uint32_t periods, Walk walk, MethodAt method_at, Capture capture) {
    Lane* const lane = take(tid);
    if (!lane) return lose(periods);
    const int32_t outcome = walk(lane->frames);
    const size_t count = outcome > 0 ? static_cast<size_t>(outcome) : 0;
    const size_t captured = capture(lane->capture);
    const bool stored = lane->has_space(count + captured);
    if (stored) {
      uint64_t at = lane->written.load(std::memory_order_relaxed);
      const auto put = [&](uint64_t word) { lane->ring[at++ % ring_words] = word; };
      put(uint64_t{tid} << 32 | periods);
      put(uint64_t{captured} << 32 | static_cast<uint32_t>(outcome));
      for (size_t i = 0; i < count; ++i) put(method_at(lane->frames, i));
      for (size_t i = 0; i < captured; ++i) put(lane->capture[i]);
      lane->written.store(at, std::memory_order_release);
    }
    lane->busy.store(false, std::memory_order_release);
    return stored || lose(periods);
  }

  // Passes all samples and removes them. One thread at a time.
  void drain(const std::function<void(const Sample&)>& take);

  // Periods whose samples found no free buffer or no space, since the last call.
  uint64_t take_lost() { return lost_.exchange(0); }

 private:
  struct Lane {
    std::atomic<bool> busy;
    std::atomic<uint64_t> written;  // words
    std::atomic<uint64_t> read;
    uint64_t* ring;
    void* frames;
    uint64_t* capture;

    bool has_space(size_t words) const {
      constexpr size_t head_words = 2;
      const uint64_t used =
          written.load(std::memory_order_relaxed) - read.load(std::memory_order_acquire);
      return used + head_words + words <= ring_words;
    }
  };

  Lane* take(uint32_t tid) {
    for (size_t i = 0; i < lane_count; ++i) {
      Lane& lane = lanes_[(tid + i) % lane_count];
      if (!lane.busy.load(std::memory_order_relaxed) &&
          !lane.busy.exchange(true, std::memory_order_acquire))
        return &lane;
    }
    return nullptr;
  }

  bool lose(uint32_t periods) {
    lost_.fetch_add(periods, std::memory_order_relaxed);
    return false;
  }

  std::array<Lane, lane_count> lanes_{};
  std::atomic<uint64_t> lost_ = 0;
};

}  // namespace pi::jprof

#endif  // PI_JPROF_SAMPLE_BUFFERS_H
