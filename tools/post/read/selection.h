// SPDX-License-Identifier: MIT
// Which records of a trace the reports are made from.
#ifndef POST_SELECTION_H
#define POST_SELECTION_H

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

namespace post {

// First and last of a run of things that are counted from 1.
struct NumberRange {
  uint64_t first = 0;
  uint64_t last = std::numeric_limits<uint64_t>::max();

  bool contains(uint64_t number) const { return number >= first && number <= last; }
  bool all() const { return first <= 1 && last == std::numeric_limits<uint64_t>::max(); }
};

struct Selection {
  NumberRange records;            // -p, -pp; in the order of time, as the lines of post.show
  NumberRange ticks;              // -twin; of all ticks in the trace
  std::optional<uint8_t> metric;  // -tpsel

  // minor: of the tick's record; its second byte is the metric.
  bool takes_tick(uint64_t record, uint64_t tick, uint32_t minor) const {
    return records.contains(record) && ticks.contains(tick) &&
           (!metric || *metric == (minor >> 8 & 0xff));
  }
};

// "records 10 to 20" and so on, for the report's head; none when everything is taken.
std::vector<std::string> selection_texts(const Selection& selection);

}  // namespace post

#endif  // POST_SELECTION_H
