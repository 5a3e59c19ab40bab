// SPDX-License-Identifier: MIT
// Turns perf's records into trace records.
#ifndef PI_PERFUTIL_PERF_CONVERT_H
#define PI_PERFUTIL_PERF_CONVERT_H

#include <bitset>
#include <cstdint>
#include <map>
#include <span>
#include <string>

#include "user_buffer.h"

namespace pi::perfutil {

// Not thread-safe. Records must come from events opened with perf_events.h's attributes.
class PerfConverter {
 public:
  explicit PerfConverter(bool anonymous) : anonymous_(anonymous) {}

  // Only records of enabled majors are stored; what the kernel lost is always counted.
  void set_enabled(const std::bitset<256>& enabled) { enabled_ = enabled; }

  // One record from the ring of ticks or of the side band, into that CPU's buffers. A record that
  // is shorter than its kind needs is counted as lost by the source.
  void convert_tick(std::span<const std::byte> record, UserBuffer& trace);
  void convert_side_band(std::span<const std::byte> record, UserBuffer& mte);

  // The time of a record from the ring of ticks; 0 for what is no tick.
  static uint64_t tick_time(std::span<const std::byte> record);

  // Records the kernel itself dropped, as told by the last call's record; 0 for most.
  uint64_t lost_in_last() const { return lost_in_last_; }
  uint64_t throttled() const { return throttled_; }
  void reset();

 private:
  void count_lost(std::span<const std::byte> record, UserBuffer& buffer, size_t offset);
  bool sample(std::span<const std::byte> record, UserBuffer& trace);
  bool mmap2(std::span<const std::byte> record, UserBuffer& mte);
  bool comm(std::span<const std::byte> record, UserBuffer& mte);
  bool fork(std::span<const std::byte> record, UserBuffer& mte);
  bool exit(std::span<const std::byte> record, UserBuffer& mte);

  bool anonymous_;
  std::bitset<256> enabled_;
  uint64_t lost_in_last_ = 0;
  uint64_t throttled_ = 0;
};

}  // namespace pi::perfutil

#endif  // PI_PERFUTIL_PERF_CONVERT_H
