// SPDX-License-Identifier: MIT
// The trace's clock, read in this process.
#include "trace_clock.h"

#include <charconv>
#include <ctime>

#include "proc_text.h"

namespace pi::jprof {
namespace {

constexpr int64_t second = 1'000'000'000;

uint64_t read(clockid_t clock) {
  timespec now{};
  ::clock_gettime(clock, &now);
  return static_cast<uint64_t>(now.tv_sec) * second + static_cast<uint64_t>(now.tv_nsec);
}

std::optional<int64_t> next_number(std::string_view& line) {
  line.remove_prefix(std::min(line.find_first_not_of(' '), line.size()));
  int64_t number = 0;
  const auto [end, error] = std::from_chars(line.data(), line.data() + line.size(), number);
  if (error != std::errc{}) return std::nullopt;
  line.remove_prefix(static_cast<size_t>(end - line.data()));
  return number;
}

}  // namespace

std::optional<int64_t> time_offset(std::string_view text, std::string_view clock) {
  while (!text.empty()) {
    std::string_view line = next_line(text);
    if (!line.starts_with(clock) || !line.substr(clock.size()).starts_with(' ')) continue;
    line.remove_prefix(clock.size());
    const auto seconds = next_number(line);
    const auto rest = next_number(line);
    int64_t whole;
    if (!seconds || !rest || __builtin_mul_overflow(*seconds, second, &whole) ||
        __builtin_add_overflow(whole, *rest, &whole))
      return std::nullopt;
    return whole;
  }
  return std::nullopt;
}

// A kernel without time namespaces has neither file. The file contains the offset of the children's
// namespace, which is also this process's except between unshare() and the next fork.
TraceClock TraceClock::of_this_process() {
  TraceClock clock;
  const auto text = read_proc("/proc/self/timens_offsets");
  if (!text) return clock;
  const auto monotonic = time_offset(*text, "monotonic");
  clock.exact_ = monotonic && namespace_inode("/proc/self/ns/time") ==
                                  namespace_inode("/proc/self/ns/time_for_children");
  if (!clock.exact_) return clock;
  clock.offset_ = *monotonic;
  return clock;
}

uint64_t TraceClock::now() const {
  return read(CLOCK_MONOTONIC) - static_cast<uint64_t>(offset_);
}

uint64_t TraceClock::from_boot_time(uint64_t boot) const {
  const uint64_t ago = read(CLOCK_BOOTTIME) - boot, clock = now();
  return ago < clock ? clock - ago : 0;
}

}  // namespace pi::jprof
