// SPDX-License-Identifier: MIT
// AboveIdle's lines: percentages from the difference of two readings of the counters.
#ifndef PI_SWTRACE_AI_LINES_H
#define PI_SWTRACE_AI_LINES_H

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "perfutil.h"

namespace pi::swtrace {

// In hundredths of a percent; their sum is 10,000.
struct AiShares {
  int idle = 10000;
  int busy = 0;
  int interrupt = 0;
};

// The times between two readings.
struct AiTimes {
  uint64_t idle = 0;  // nanoseconds
  uint64_t busy = 0;
  uint64_t interrupt = 0;
  uint64_t dispatches = 0;
  uint64_t interrupts = 0;
};

// By CPU number; nothing for a CPU that was offline at one of the readings.
std::vector<std::optional<AiTimes>> ai_times(std::span<const ai_counters> before,
                                             std::span<const ai_counters> after);

// Of all CPUs together.
AiTimes ai_sum(const std::vector<std::optional<AiTimes>>& cpus);

// Rounded so that the sum is exact: the remainder is added where rounding removed most.
AiShares ai_shares(const AiTimes& times);

// "CPU 0 IDLE= 51.20, BUSY= 47.60, INTR= 1.20"; name: "CPU 0" or "System".
std::string ai_line(const std::string& name, const AiTimes& times);

}  // namespace pi::swtrace

#endif  // PI_SWTRACE_AI_LINES_H
