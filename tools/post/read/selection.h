// SPDX-License-Identifier: MIT
// The records of a trace that reports are made from, as options select them.
#ifndef POST_SELECTION_H
#define POST_SELECTION_H

#include <array>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace post {

// The first and the last number of a range. Records and ticks are counted from 1, CPUs from 0.
struct NumberRange {
  uint64_t first = 0;
  uint64_t last = std::numeric_limits<uint64_t>::max();

  bool contains(uint64_t number) const { return number >= first && number <= last; }
  bool all() const { return first <= 1 && last == std::numeric_limits<uint64_t>::max(); }
};

// Nanoseconds from first up to end; end is not included, so that two ranges can adjoin.
struct TimeRange {
  static constexpr int64_t open_first = std::numeric_limits<int64_t>::min();
  static constexpr int64_t open_end = std::numeric_limits<int64_t>::max();
  int64_t first = open_first;
  int64_t end = open_end;

  bool contains(int64_t time) const { return time >= first && time < end; }
};

// The things that are included (all if only is empty), and those of them that are excluded.
template <class T>
struct Choice {
  std::vector<T> only;
  std::vector<T> without;

  bool any() const { return !only.empty() || !without.empty(); }
  // value: what T::contains() takes.
  template <class V>
  bool takes(V value) const {
    bool taken = only.empty();
    for (const T& part : only) taken = taken || part.contains(value);
    for (const T& part : without) taken = taken && !part.contains(value);
    return taken;
  }
};

// What can be selected by name, in the order in which it is tested.
enum class NameKind : uint8_t { process, command, thread, module, symbol };
constexpr size_t name_kinds = 5;

// The option without its dashes: "process".
const char* option_of(NameKind kind);

struct Selection {
  NumberRange records;            // -p, -pp; in the order of time, as the lines of post.show
  NumberRange ticks;              // -twin; of all ticks in the trace
  std::optional<uint8_t> metric;  // -tpsel
  Choice<NumberRange> cpus;       // --cpus
  Choice<TimeRange> times;        // --time; since the trace's first record
  std::array<Choice<std::string>, name_kinds> names;  // words as they were typed
  std::vector<std::string> options;                   // all of these, as they were typed

  const Choice<std::string>& of(NameKind kind) const { return names[static_cast<size_t>(kind)]; }
  // Whether something is selected by name.
  bool by_name() const;
  // Whether threads can be followed: waits cannot be divided by code or CPU, and threads are
  // followed through one stretch of time.
  bool follows_threads() const;
  // Whether takes_tick() or takes_place() can return false.
  bool by_record() const {
    return !records.all() || !ticks.all() || metric || times.any() || cpus.any();
  }

  // minor: of the tick's record; its second byte is the metric.
  bool takes_tick(uint64_t record, uint64_t tick, uint32_t minor) const {
    return records.contains(record) && ticks.contains(tick) &&
           (!metric || *metric == (minor >> 8 & 0xff));
  }
  // since: nanoseconds since the trace's first record.
  bool takes_place(int64_t since, uint32_t cpu) const {
    return (!times.any() || times.takes(since)) && (!cpus.any() || cpus.takes(cpu));
  }
};

// Whether everything is selected, apart from the selection by name.
bool leaves_all_records(const Selection& selection);

// "records 10 to 20" and so on, for the report's head; none when everything is selected.
std::vector<std::string> selection_texts(const Selection& selection);

// Parses "1.5-3" to nanoseconds; either end may be missing. Returns nothing if it is not a range of
// seconds.
std::optional<TimeRange> parse_seconds(std::string_view text);

// Parses "0-3,7,12-" and adds it to the ranges; false when it is not a list of CPUs.
bool parse_cpus(std::string_view text, std::vector<NumberRange>& cpus);

}  // namespace post

#endif  // POST_SELECTION_H
