// SPDX-License-Identifier: MIT
// Makes the rows and the text of ptt dump: pure functions, so that tests can compare whole reports.
#ifndef PI_PTT_REPORT_H
#define PI_PTT_REPORT_H

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "perfutil_ptt.h"

namespace pi::ptt {

using Values = std::array<uint64_t, MAX_PTT_METRICS>;

struct Thread {
  uint32_t pid = 0;
  uint32_t tid = 0;
  bool ended = false;
  uint64_t dispatches = 0;
  uint64_t interrupts = 0;
  Values values{};
  std::string name;
};

// Sums of threads without a row.
struct Others {
  uint64_t threads = 0;  // 0: it is not known how many
  uint64_t dispatches = 0;
  uint64_t interrupts = 0;
  Values values{};
};

struct Report {
  bool active = false;
  bool ints = true;
  std::vector<std::string> metrics;
  std::vector<Thread> threads;
  std::map<uint32_t, std::string> processes;  // names
  std::vector<uint32_t> empty;                // requested, but without data
  Others ended;
  Others without_account;
};

enum class SortKey { pid, tid, dispatches, interrupts, metric };

struct View {
  SortKey key = SortKey::pid;
  size_t metric = 0;              // of SortKey::metric, from 0
  std::optional<bool> ascending;  // none: ids ascending, counts descending
  bool hex = false;
  bool cpi = false;
  bool names = false;  // a column with the threads' names
};

// Converts the library's statistics. wanted: pids or names of processes; none: all.
Report make_report(const ptt_stats& stats, const pi_ptt_state& state,
                   const std::vector<std::string>& wanted);

// The metrics whose quotient is CPI; nothing if one of them is not counted.
std::optional<std::pair<size_t, size_t>> cpi_metrics(const Report& report);

// Sorted in place; processes stay together where the key is the pid.
void sort_threads(Report& report, const View& view);

// Without a banner; ends with a line feed.
std::string report_text(const Report& report, const View& view);
// One line.
std::string report_json(const Report& report, const View& view);

}  // namespace pi::ptt

#endif  // PI_PTT_REPORT_H
