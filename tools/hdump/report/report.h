// SPDX-License-Identifier: MIT
// What hdump says about one heap dump, as plain values, and its forms as text and JSON.
#ifndef HDUMP_REPORT_REPORT_H
#define HDUMP_REPORT_REPORT_H

#include <json.h>

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "graph/heap_graph.h"

namespace hdump {

struct ReportOptions {
  double suspect_percent = 10;  // of the reachable bytes
  double clip_percent = 1;      // ways that retain less are not shown
  size_t lines = 30;            // rows of each table
  std::string paths_of;         // a pattern of class names: paths to their largest objects
};

struct ClassRow {
  std::string name;
  uint64_t objects = 0;
  uint64_t bytes = 0;
  uint64_t retained = 0;
  bool exact = false;  // else retained is a lower bound
};

struct ObjectRow {
  std::string name;
  Id id = 0;
  uint64_t bytes = 0;
  uint64_t retained = 0;
};

struct WayRow {
  std::string name;
  std::string path;  // the names from the roots on, separated by " > "
  uint32_t depth = 0;
  uint64_t objects = 0;
  uint64_t bytes = 0;
  uint64_t retained = 0;
  bool cut = false;
};

struct StepRow {
  std::string name;
  Id id = 0;
  std::string reference;
};

struct PathRow {
  std::string root;  // the kind of root; empty if no root reaches the object
  std::vector<StepRow> steps;
};

struct SuspectRow {
  std::string name;
  Id id = 0;
  uint64_t objects = 0;
  uint64_t retained = 0;
  double percent = 0;
  std::vector<ClassRow> held;
  PathRow path;
};

struct Report {
  std::string file;
  DumpFacts facts;
  Layout layout;
  std::optional<pi::log_hd::Facts> jvm;  // of a log-hd
  uint64_t objects = 0;
  uint64_t bytes = 0;
  uint64_t reachable_objects = 0;
  uint64_t reachable_bytes = 0;
  uint64_t references = 0;
  uint64_t dangling = 0;
  uint64_t misfits = 0;
  uint64_t loaded_classes = 0;
  bool roots_assumed = false;  // the dump has none: its end is missing
  std::vector<std::pair<std::string, uint64_t>> roots;
  std::vector<ClassRow> classes;  // all, most retained bytes first
  std::vector<ObjectRow> largest;
  std::vector<WayRow> ways;
  std::vector<SuspectRow> suspects;
  std::vector<PathRow> paths;
  Damage damage;
};

// Analyses a dump that is open. name: its file, for the report.
pi::Result<Report> analyse(const std::string& name, const HeapGraph::Open& open,
                           const DiskSpace& space, const ReportOptions& options,
                           const HeapGraph::Progress& progress);

std::string text_of(const Report& report, const ReportOptions& options);
pi::Json json_of(const Report& report);

// Dumps of one program, oldest first: what has become more.
std::string growth_text(const std::vector<Report>& reports, const ReportOptions& options);
pi::Json growth_json(const std::vector<Report>& reports);

}  // namespace hdump

#endif  // HDUMP_REPORT_REPORT_H
