// SPDX-License-Identifier: MIT
// AboveIdle's lines: percentages from the difference of two readings of the counters.
#include "ai_lines.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

namespace pi::swtrace {

std::vector<std::optional<AiTimes>> ai_times(std::span<const ai_counters> before,
                                             std::span<const ai_counters> after) {
  std::vector<std::optional<AiTimes>> cpus(after.size());
  for (size_t cpu = 0; cpu < after.size(); ++cpu) {
    const auto& old = before[cpu];
    const auto& now = after[cpu];
    // The counters of a CPU restart from 0 when it comes back online.
    if (now.CurTime == 0 || now.CurTime < old.CurTime) continue;
    cpus[cpu] =
        AiTimes{now.IdleTime - old.IdleTime, now.BusyTime - old.BusyTime,
                now.IntrTime - old.IntrTime, now.DispCnt - old.DispCnt, now.IntrCnt - old.IntrCnt};
  }
  return cpus;
}

AiTimes ai_sum(const std::vector<std::optional<AiTimes>>& cpus) {
  AiTimes sum;
  for (const auto& cpu : cpus) {
    if (!cpu) continue;
    sum.idle += cpu->idle;
    sum.busy += cpu->busy;
    sum.interrupt += cpu->interrupt;
    sum.dispatches += cpu->dispatches;
    sum.interrupts += cpu->interrupts;
  }
  return sum;
}

AiShares ai_shares(const AiTimes& times) {
  constexpr int whole = 10000;
  AiShares shares;
  const double total = static_cast<double>(times.idle) + static_cast<double>(times.busy) +
                       static_cast<double>(times.interrupt);
  if (total <= 0) return shares;
  struct Part {
    int* share;
    double exact;
  };
  std::array<Part, 3> parts{
      {{&shares.idle, whole * static_cast<double>(times.idle) / total},
       {&shares.busy, whole * static_cast<double>(times.busy) / total},
       {&shares.interrupt, whole * static_cast<double>(times.interrupt) / total}}};
  int left = whole;
  for (auto& part : parts) left -= * part.share = static_cast<int>(part.exact);
  std::sort(parts.begin(), parts.end(), [](const Part& a, const Part& b) {
    return a.exact - std::floor(a.exact) > b.exact - std::floor(b.exact);
  });
  for (size_t i = 0; left > 0; --left) ++*parts[i++ % parts.size()].share;
  return shares;
}

std::string ai_line(const std::string& name, const AiTimes& times) {
  const AiShares shares = ai_shares(times);
  const auto percent = [](int hundredths) {
    return fmt::format("{}.{:02}", hundredths / 100, hundredths % 100);
  };
  return fmt::format("{} IDLE= {}, BUSY= {}, INTR= {}", name, percent(shares.idle),
                     percent(shares.busy), percent(shares.interrupt));
}

}  // namespace pi::swtrace
