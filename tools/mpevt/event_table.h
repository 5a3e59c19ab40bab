// SPDX-License-Identifier: MIT
// Counts of one event: encoded for the socket, as a table, as JSON.
#ifndef PI_MPEVT_EVENT_TABLE_H
#define PI_MPEVT_EVENT_TABLE_H

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "json.h"

namespace pi::mpevt {

struct CpuCount {
  int cpu = 0;
  uint64_t count = 0;
  uint64_t counted_ns = 0;
};

struct EventCounts {
  std::string name;
  std::string privilege;  // user, kernel, both
  bool counting = false;
  std::vector<CpuCount> cpus;  // in order

  uint64_t total() const;
};

// To key=value lines and back; nothing if they are malformed.
std::string encode_counts(const EventCounts& counts);
std::optional<EventCounts> decode_counts(std::string_view lines);

std::string table_of(const EventCounts& counts);
pi::Json json_of(const EventCounts& counts);

// A sentence for each CPU that was counted for less time than others.
std::vector<std::string> gaps_of(const EventCounts& counts);

}  // namespace pi::mpevt

#endif  // PI_MPEVT_EVENT_TABLE_H
