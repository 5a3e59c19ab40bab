// SPDX-License-Identifier: MIT
// What the tables of --export parquet and of --fleet have in common: the texts in their columns,
// and the table of stacks. docs/parquet.md describes the columns.
#ifndef POST_PARQUET_NAMES_H
#define POST_PARQUET_NAMES_H

#include <array>
#include <functional>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "analysis/records_by_time.h"
#include "analysis/shown_names.h"
#include "export/parquet.h"
#include "report.h"
#include "summary.h"

namespace post {

// The values of one row, in the order of the columns.
class ParquetRow {
 public:
  explicit ParquetRow(ParquetWriter& writer) : writer_(writer) {}
  // no_name: null.
  ParquetRow& text(NameId name) { return name == no_name ? null() : number(name); }
  ParquetRow& number(int64_t value) {
    writer_.put(column_++, value);
    return *this;
  }
  ParquetRow& number_or_null(std::optional<int64_t> value) {
    return value ? number(*value) : null();
  }
  ParquetRow& null(size_t columns = 1) {
    for (; columns != 0; --columns) writer_.put_null(column_++);
    return *this;
  }
  bool end() {
    if (column_ != writer_.columns()) throw std::logic_error("a row lacks a column");
    return writer_.end_row();
  }

 private:
  ParquetWriter& writer_;
  size_t column_ = 0;
};

class ParquetNames {
 public:
  using Kind = RecordSum::Kind;

  explicit ParquetNames(const ReportContext& context);

  NameId name(std::string_view text) const { return names_.intern(text); }
  const StringTable& names() const { return names_; }
  NameId host() const { return host_; }
  NameId process(NameId process) const { return shown_.command(process); }
  NameId thread(NameId thread) const { return shown_.command(thread); }
  NameId cgroup(NameId cgroup) const { return shown_.cgroup(cgroup); }
  NameId source(NameId file) const { return shown_.source(file); }
  NameId kernel() const { return kernel_; }
  // epoch: RecordsByTime::epoch().
  NameId trace(uint64_t epoch) const;  // most calls have the same
  // Microseconds since the epoch.
  static int64_t micros(uint64_t time, uint64_t epoch) {
    return static_cast<int64_t>((time + epoch) / 1000);
  }
  NameId kind(Kind kind) const { return kinds_[static_cast<size_t>(kind)]; }
  NameId reason(LeaveReason reason) const { return reasons_[reason]; }
  NameId mode(bool kernel) const { return mode_[kernel]; }
  NameId service(NameId cgroup) const { return shown_.service(cgroup); }
  // no_name: not known, or it has no symbol.
  NameId function(const Frame& frame) const { return shown_.function(frame); }
  NameId module(const Frame& frame) const { return shown_.module(frame); }
  NameId build_id(const Frame& frame) const;
  // Of a sum, and what it counts; no_name: not known.
  std::optional<int64_t> amount(Kind kind, uint64_t count, uint64_t amount) const;
  NameId unit(Kind kind) const;

  // A row for each buffer and reason for which records were lost: the trace does not say when.
  struct Loss {
    uint32_t cpu = 0;
    NameId reason = no_name;
    uint64_t count = 0;
  };
  std::vector<Loss> losses(const Summary& summary) const;

  ParquetWriter::Metadata metadata(const Summary& summary, const char* table,
                                   const char* version) const;

 private:
  const TraceFile& file_;
  StringTable& names_;
  const uint64_t bucket_;
  const uint64_t begin_;
  const std::map<std::string, std::string> build_ids_;
  const ShownNames shown_;
  mutable std::unordered_map<NameId, NameId> id_of_module_;
  mutable std::optional<std::pair<uint64_t, NameId>> trace_;  // the last one, and its epoch
  const NameId host_, kernel_, ns_;
  const std::array<NameId, 2> mode_;
  std::array<NameId, 4> kinds_{};
  std::array<NameId, leave_reasons + 1> reasons_{};  // the last one is none
  uint64_t per_tick_ = 0;                            // 0: not known
  NameId tick_unit_ = no_name;
};

// The options of RecordsByTime for these tables.
RecordsByTime::Options records_options(const ReportContext& context, bool ids);

// Stacks in the order of their rows, each after its caller, and how they are numbered in the
// tables.
struct StackNumbers {
  std::vector<uint32_t> order;  // the numbers that they had
  std::vector<uint32_t> shown;  // by these
};
// caller_of: the number of a stack's caller, a lower one, or RecordSum::no_stack. used: by number;
// their callers are added. in_place: keeps the numbers. Otherwise a stack is followed by those that
// it calls, which makes the table small.
StackNumbers number_stacks(const std::function<uint32_t(uint32_t)>& caller_of,
                           std::vector<bool> used, bool in_place);

// The build-id of each path with only one; empty where it is not known.
std::map<std::string, std::string> ids_by_path(const std::vector<BuildId>& build_ids);

}  // namespace post

#endif  // POST_PARQUET_NAMES_H
