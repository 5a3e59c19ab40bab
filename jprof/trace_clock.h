// SPDX-License-Identifier: MIT
// The trace's clock as this process can read it.
#ifndef PI_JPROF_TRACE_CLOCK_H
#define PI_JPROF_TRACE_CLOCK_H

#include <cstdint>
#include <optional>
#include <string_view>

namespace pi::jprof {

// CLOCK_MONOTONIC of the initial time namespace, which records carry. A process in a time namespace
// of its own sees another one, by a constant offset.
class TraceClock {
 public:
  // Asks /proc.
  static TraceClock of_this_process();

  // Nanoseconds.
  uint64_t now() const;
  // The same moment for a time of this process's CLOCK_BOOTTIME, nanoseconds.
  uint64_t from_boot_time(uint64_t boot) const;

  // What is subtracted; 0 also where it could not be found out.
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
