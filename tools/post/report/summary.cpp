// SPDX-License-Identifier: MIT
// Computes figures that more than one report shows.
#include "summary.h"

#include <fmt/format.h>

#include <cmath>

namespace post {

// As in Performance Inspector: 0.1 % of 25,383 ticks is 25, of 125,160 ticks 125, and a row of 125
// ticks is shown.
uint64_t clip_ticks(const Summary& summary) {
  const double exact =
      static_cast<double>(summary.ticks.ticks) * summary.options.clip_percent / 100;
  return static_cast<uint64_t>(std::floor(exact + 1e-6));
}

uint64_t processor_speed(const Summary& summary) {
  return summary.file.info.cpu_hz != 0 ? summary.file.info.cpu_hz
                                       : summary.records.cpu_mhz * 1'000'000;
}

uint64_t tick_distance(const Summary& summary) {
  if (summary.event_based()) return 0;
  const TraceInfo& info = summary.file.info;
  if (info.tick_ns != 0) return info.tick_ns;
  const uint64_t rate = info.rate != 0 ? info.rate : summary.records.ticks_per_second;
  return rate == 0 ? 0 : 1'000'000'000 / rate;
}

uint64_t events_per_tick(const Summary& summary) {
  return summary.records.events_per_tick != 0 ? summary.records.events_per_tick
                                              : summary.file.info.period;
}

std::string event_name(const Summary& summary) {
  return summary.file.info.event.empty() ? "events" : summary.file.info.event;
}

double percent(uint64_t part, uint64_t whole) {
  return whole == 0 ? 0 : 100.0 * static_cast<double>(part) / static_cast<double>(whole);
}

std::string share_text(uint64_t part, uint64_t whole) {
  const double share = percent(part, whole);
  if (part != 0 && share < 0.05) return " <0.1";
  if (part != whole && share >= 99.95) return ">99.9";
  return fmt::format("{:5.1f}", share);
}

}  // namespace post
