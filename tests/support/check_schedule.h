// SPDX-License-Identifier: MIT
// Checks that every record of a trace file is accounted for, by its sequence number. Parses the
// file independently: shares only the headers that define the format with libperfutil and post.
#ifndef PI_TESTS_CHECK_SCHEDULE_H
#define PI_TESTS_CHECK_SCHEDULE_H

#include <cstdint>
#include <string>
#include <vector>

#include "writer_log.h"

namespace schedule {

enum class Mode { normal, wrap, continuous };

// Writer n is pinned to CPU n. The numbers [from, until) were written since the trace was last
// turned on or discarded.
struct Window {
  const WriterLog* log;
  uint64_t from;
  uint64_t until;
};

struct Expected {
  Mode mode;
  bool driver;      // else perf, where a buffer can be full for an accepted hook
  bool hooks_only;  // the trace buffers contain only the writers' records
  bool ended;       // by 'off' or as a snapshot; else the recorder was killed
  std::vector<Window> writers;
};

struct Findings {
  std::vector<std::string> problems;
  uint64_t kept = 0;  // the writers' records in the file
  uint64_t missing =
      0;  // records written while recording and not in the file, if the trace was ended
  uint64_t lost_records = 0;  // LOST records in the file
  uint64_t produced = 0, written = 0,
           lost = 0;  // from the file's counts, trace buffers of all CPUs
  uint64_t overwritten = 0, unwritten = 0;
};

Findings check_file(const std::string& name, const Expected& expected);

}  // namespace schedule

#endif  // PI_TESTS_CHECK_SCHEDULE_H
