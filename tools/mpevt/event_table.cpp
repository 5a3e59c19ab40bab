// SPDX-License-Identifier: MIT
// Counts of one event: encoded for the socket, as a table, as JSON.
#include "event_table.h"

#include <algorithm>
#include <charconv>

#include <fmt/format.h>

#include "service_protocol.h"

namespace pi::mpevt {
namespace {

double seconds(uint64_t ns) {
  return static_cast<double>(ns) / 1e9;
}

// Removes a number and one blank after it from the front.
template <class Number>
bool take(std::string_view& text, Number& number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc()) return false;
  text.remove_prefix(static_cast<size_t>(end - text.data()));
  if (text.starts_with(' ')) text.remove_prefix(1);
  return true;
}

uint64_t longest(const EventCounts& counts) {
  uint64_t most = 0;
  for (const auto& each : counts.cpus) most = std::max(most, each.counted_ns);
  return most;
}

}  // namespace

uint64_t EventCounts::total() const {
  uint64_t sum = 0;
  for (const auto& each : cpus) sum += each.count;
  return sum;
}

std::string encode_counts(const EventCounts& counts) {
  std::string lines = fmt::format("event={}\npriv={}\nstate={}\n", counts.name, counts.privilege,
                                  counts.counting ? "counting" : "stopped");
  for (const auto& each : counts.cpus)
    lines += fmt::format("cpu={} {} {}\n", each.cpu, each.count, each.counted_ns);
  return lines;
}

std::optional<EventCounts> decode_counts(std::string_view lines) {
  EventCounts counts;
  counts.name = service::value_of(lines, "event");
  counts.privilege = service::value_of(lines, "priv");
  counts.counting = service::value_of(lines, "state") == "counting";
  for (const auto& value : service::values_of(lines, "cpu")) {
    CpuCount each;
    std::string_view rest = value;
    if (!take(rest, each.cpu) || !take(rest, each.count) || !take(rest, each.counted_ns) ||
        !rest.empty())
      return std::nullopt;
    counts.cpus.push_back(each);
  }
  if (counts.name.empty()) return std::nullopt;
  return counts;
}

std::string table_of(const EventCounts& counts) {
  const std::string where = counts.privilege == "both" ? "" : ", in " + counts.privilege + " mode";
  std::string text = fmt::format(" {} ({}{})\n   CPU                  Count     Seconds\n",
                                 counts.name, counts.counting ? "counting" : "stopped", where);
  for (const auto& each : counts.cpus)
    text += fmt::format("{:>6} {:>22} {:>11.3f}\n", each.cpu, each.count, seconds(each.counted_ns));
  return text + fmt::format("   All {:>22}\n", counts.total());
}

pi::Json json_of(const EventCounts& counts) {
  pi::Json event{{"name", counts.name},
                 {"privilege", counts.privilege},
                 {"counting", counts.counting},
                 {"total", counts.total()}};
  event["cpus"] = pi::Json::array();
  for (const auto& each : counts.cpus)
    event["cpus"].push_back(
        {{"cpu", each.cpu}, {"count", each.count}, {"counted_ns", each.counted_ns}});
  event["gaps"] = gaps_of(counts);
  return event;
}

std::vector<std::string> gaps_of(const EventCounts& counts) {
  // CPUs are started, stopped and read one after the other.
  constexpr uint64_t slack_ns = 100'000'000;
  const uint64_t most = longest(counts);
  std::vector<std::string> gaps;
  for (const auto& each : counts.cpus)
    if (most - each.counted_ns > std::max(slack_ns, most / 100))
      gaps.push_back(fmt::format(
          "CPU {} was counted for {:.3f} of {:.3f} seconds: it was offline, or its counter was "
          "not available.",
          each.cpu, seconds(each.counted_ns), seconds(most)));
  return gaps;
}

}  // namespace pi::mpevt
