// SPDX-License-Identifier: MIT
// log-jlm: the report of the lock monitor, as text and as JSON.
#ifndef PI_JPROF_LOCK_REPORT_H
#define PI_JPROF_LOCK_REPORT_H

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace pi::jprof {

// What probes counted for a monitor; is_class: for all monitors of a class that are not listed one
// by one.
struct LockCounts {
  std::string name;  // of the class, as in logs
  uint32_t hash = 0;
  bool is_class = false;
  uint64_t nonrecursive = 0;
  uint64_t recursive = 0;
  uint64_t held = 0;  // nanoseconds
};

// How often a thread had to wait for a monitor; hash 0: for some of this class.
struct ContendedCount {
  std::string name;  // as above
  uint32_t hash = 0;
  uint64_t count = 0;
  bool by_probe = true;  // the code that waited can have probes
};

struct LockTotals {
  bool running = false;
  bool times = false;
  uint64_t interval = 0;  // nanoseconds
  uint64_t gc = 0;        // thereof in garbage collections
  uint64_t lost = 0;      // gets that were not counted
  std::vector<LockCounts> monitors;
  std::vector<ContendedCount> contended;
  std::map<std::string, std::string> uncovered;  // classes and methods without probes, and why
};

struct LockRow {
  LockCounts counts;
  uint64_t slow = 0;

  uint64_t gets() const { return counts.nonrecursive + counts.recursive; }
  double miss() const;                          // percent
  double utilisation(uint64_t interval) const;  // percent
  double average_hold() const;                  // nanoseconds
};

// The rows in the order of the report, with the contended gets of each.
struct LockTable {
  std::vector<LockRow> rows;
  std::vector<ContendedCount> outside;  // contended gets that belong to no row; hash 0
  uint64_t collisions = 0;              // rows with the class and hash of another one
};

LockTable lock_table(const LockTotals& totals);

// heading: whole lines.
std::string lock_report(const LockTotals& totals, const std::string& heading);
// With schema_version 1.
std::string lock_json(const LockTotals& totals);

}  // namespace pi::jprof

#endif  // PI_JPROF_LOCK_REPORT_H
