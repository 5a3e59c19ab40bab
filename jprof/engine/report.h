// SPDX-License-Identifier: MIT
// Reports of a snapshot. Names of methods are looked up by the caller.
#ifndef PI_CALLFLOW_REPORT_H
#define PI_CALLFLOW_REPORT_H

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "snapshot.h"

namespace pi::callflow {

// The name of a method, without its type's letter. Called once for each method of a report.
using NameOf = std::function<std::string(uint64_t method)>;

// A column of a report that has several metrics, or one computed of two.
struct Column {
  enum class Kind : uint8_t { sum, ratio, difference };
  std::string name;
  Kind kind = Kind::sum;
  size_t metric = 0;
  size_t other = 0;     // ratio: metric / other, difference: metric - other
  unsigned digits = 0;  // how many decimal digits of a sum or difference are dropped
};

struct ReportSettings {
  std::string heading = {};          // whole lines: program, version, process, machine, start time
  std::vector<Column> columns = {};  // empty: the metrics
  bool types = true;                 // METHODTYPES: "F:" before names
  bool legend = true;                // LEGEND: the list of the letters

  // log-gen: events of this method are not written, and what was measured before its entry belongs
  // to the event after it.
  std::optional<uint64_t> hidden_method = std::nullopt;
};

// Gets the parts of a report one after the other, so that a large one need not be in memory.
// Returns 0, or an error number, after which there are no more parts.
using Sink = std::function<int(std::string_view part)>;
constexpr size_t part_bytes = 256 << 10;  // about

// Call tree: the paper's columns LV CALLS CEE BASE DELTA DS IN NAME with one metric, a column with
// the name of each metric if there are several, LV CALLS CEE NAME without metrics. Contains the
// error bound of the calibration, its sequences and all losses.
// Returns the sink's error number.
int log_rt(const Snapshot& snapshot, const ReportSettings& settings, const NameOf& name_of,
           const Sink& sink);
std::string log_rt(const Snapshot& snapshot, const ReportSettings& settings, const NameOf& name_of);

// The same contents, without heading, as JSON with schema_version 1; log-rt(5) lists its keys.
int log_rt_json(const Snapshot& snapshot, const NameOf& name_of, const Sink& sink);
std::string log_rt_json(const Snapshot& snapshot, const NameOf& name_of);

// The deepest level of folded(), whose lines contain all callers: a recursion of thousands would
// take gigabytes.
constexpr uint32_t folded_depth = 256;

// One line for each node, "THREAD;A;B;C VALUE": calls without metrics, else BASE of a metric.
// Deeper nodes are one frame, "[deeper]".
std::string folded(const Snapshot& snapshot, size_t metric, const NameOf& name_of);

}  // namespace pi::callflow

#endif  // PI_CALLFLOW_REPORT_H
