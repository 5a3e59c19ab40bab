// SPDX-License-Identifier: MIT
// The trace's clock, read in this process.
#ifndef PI_JPROF_TRACE_CLOCK_H
#define PI_JPROF_TRACE_CLOCK_H

#include <cstdint>
#include <optional>
#include <string_view>

namespace pi::jprof {

// CLOCK_MONOTONIC of the initial time namespace, which records contain. In another time namespace
// CLOCK_MONOTONIC differs by a constant offset.
class TraceClock {
 public:
  // Reads /proc.
  static TraceClock of_this_process();

  // Nanoseconds.
  uint64_t now() const;
  // Converts a time of this process's CLOCK_BOOTTIME, nanoseconds.
  uint64_t from_boot_time(uint64_t boot) const;

  // The offset that is subtracted; 0 also if it is unknown.
  int64_t offset() const { return offset_; }
  bool is_exact() const { return exact_; }

 private:
  int64_t offset_ = 0;
  bool exact_ = true;
};

// Nanoseconds of the line "CLOCK SECONDS NANOSECONDS" in the text of /proc/PID/timens_offsets.
std::optional<int64_t> time_offset(std::string_view text, std::string_view clock);

}  // namespace pi::jprof

#endif  // PI_JPROF_TRACE_CLOCK_H
