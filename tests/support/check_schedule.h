// SPDX-License-Identifier: MIT
// Accounts for every record of a trace file by its sequence number. Reads the file by itself, with
// nothing of libperfutil or post but the headers that define the format.
#ifndef PI_TESTS_CHECK_SCHEDULE_H
#define PI_TESTS_CHECK_SCHEDULE_H

#include <cstdint>
#include <string>
#include <vector>

#include "writer_log.h"

namespace schedule {

enum class Mode { normal, wrap, continuous };

// Writer n is pinned to CPU n. Numbers from .. until - 1 were made since the trace was turned on or
// discarded.
struct Window {
  const WriterLog* log;
  uint64_t from;
  uint64_t until;
};

struct Expected {
  Mode mode;
  bool driver;      // else perf, where a hook that was taken can still find a buffer full
  bool hooks_only;  // the trace buffers hold nothing but the writers' records
  bool ended;       // by 'off' or as a snapshot; else the recorder was killed
  std::vector<Window> writers;
};

struct Findings {
  std::vector<std::string> problems;
  uint64_t kept = 0;     // the writers' records that are in the file
  uint64_t missing = 0;  // those made while recording that are not, where the trace was ended
  uint64_t told = 0;     // places where the file tells of a loss
  uint64_t produced = 0, written = 0,
           lost = 0;  // as the file's counts say, trace buffers of all CPUs
  uint64_t overwritten = 0, unwritten = 0;
};

Findings check_file(const std::string& name, const Expected& expected);

}  // namespace schedule

#endif  // PI_TESTS_CHECK_SCHEDULE_H
