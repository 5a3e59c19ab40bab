// SPDX-License-Identifier: MIT
// Counts the records of each kind in a trace, and reads its start-up records.
#ifndef POST_RECORD_TOTALS_H
#define POST_RECORD_TOTALS_H

#include <pitrace/abi.h>

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "stream.h"

namespace post {

// Kinds of records other than ticks, MTE, start-up and time that reports count by name.
struct RecordKind {
  uint32_t major;
  const char* name;  // "system call"
  const char* key;   // "system_call"
};
std::span<const RecordKind> event_kinds();

struct RecordTotals {
  uint64_t records = 0;
  uint64_t counted = 0;  // of these, those that the writer counts as written
  std::array<uint64_t, PITRACE_MAJOR_MAX + 2> by_major{};
  // From the start-up records; 0 when they do not contain it.
  uint64_t cpu_mhz = 0;
  uint64_t ticks_per_second = 0;
  bool event_based = false;
  uint64_t events_per_tick = 0;

  uint64_t ticks() const { return by_major[PITRACE_MAJOR_TPROF]; }
  uint64_t times() const {
    return by_major[PITRACE_MAJOR_TIME] + by_major[PITRACE_MAJOR_TIME_FAKE];
  }

  // Of kinds that are not counted by name.
  uint64_t others() const;

  // Streams that contain LOST records.
  struct StreamGaps {
    StreamKey key;
    uint64_t count = 0;
    uint64_t records = 0;
    std::vector<Gap> first;
  };
  std::vector<StreamGaps> gaps;
  bool stopped = false;  // as the selection said, before the end of the trace
  // Nanoseconds since the epoch minus the trace clock, to within a second; 0: not in the trace.
  uint64_t epoch = 0;
  // When the first and the last tick came, selected or not.
  uint64_t first_tick = 0;
  uint64_t last_tick = 0;
};

}  // namespace post

#endif  // POST_RECORD_TOTALS_H
