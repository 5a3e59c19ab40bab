// SPDX-License-Identifier: MIT
// Writes the tables of --fleet: sums by function, sums by stack, the stacks, and their functions.
#include "report_fleet.h"

#include <algorithm>
#include <compare>
#include <map>
#include <tuple>

#include "parquet_names.h"
#include "report_export.h"

namespace post {
namespace {

using Form = ParquetWriter::Form;
using Kind = RecordSum::Kind;
using Type = ParquetWriter::Type;

using Columns = std::vector<ParquetWriter::Column>;

// Whose time it was; then the columns of one table.
Columns thread_columns(const Columns& more) {
  Columns columns = {{"time", Type::timestamp, false, Form::dictionary},
                     {"trace"},
                     {"host", Type::text, true},
                     {"kernel", Type::text, true},
                     {"kind"},
                     {"detail", Type::text, true},
                     {"process", Type::text, true},
                     {"thread", Type::text, true},
                     {"cgroup", Type::text, true},
                     {"service", Type::text, true}};
  columns.insert(columns.end(), more.begin(), more.end());
  return columns;
}

Columns record_columns() {
  return thread_columns({{"module", Type::text, true},
                         {"build_id", Type::text, true},
                         {"function", Type::text, true},
                         {"address", Type::int64, true, Form::dictionary},
                         {"mode", Type::text, true},
                         {"file", Type::text, true},
                         {"line", Type::int32, true, Form::dictionary},
                         {"count", Type::int64, false, Form::dictionary},
                         {"amount", Type::int64, true, Form::dictionary},
                         {"unit", Type::text, true}});
}

Columns path_columns() {
  return thread_columns({{"stack", Type::int32, false, Form::differences},
                         {"count", Type::int64, false, Form::dictionary},
                         {"amount", Type::int64, true, Form::dictionary},
                         {"unit", Type::text, true}});
}

Columns stack_columns_of_fleet() {
  return {{"trace"},
          {"stack", Type::int32, false, Form::differences},
          // Without a dictionary zstd finds repeated sequences of calls.
          {"up", Type::int32},
          {"frame", Type::int32}};
}

Columns frame_columns() {
  return {{"trace"},
          {"frame", Type::int32, false, Form::differences},
          {"module", Type::text, true},
          {"build_id", Type::text, true},
          {"function", Type::text, true},
          {"address", Type::int64, true, Form::dictionary},
          {"mode"},
          {"guessed", Type::int32, false, Form::dictionary}};
}

// A function as the tables show it.
struct FleetFunction {
  NameId module = no_name;
  NameId build_id = no_name;
  NameId function = no_name;
  bool nameless = false;  // known by its address
  uint64_t address = Place::no_address;
  bool kernel = false;
  bool guessed = false;
  auto operator<=>(const FleetFunction&) const = default;
};

void put_function(ParquetRow& to, const FleetFunction& function) {
  to.text(function.module).text(function.build_id);
  // An empty text: a function without a symbol, unlike an address about which nothing is known.
  if (function.nameless)
    to.number(no_name);
  else
    to.text(function.function);
  if (function.address == Place::no_address)
    to.null();
  else
    to.number(static_cast<int64_t>(function.address));
}

// Sums that are equal in all but count and amount are one row of a table. They are sorted so that
// equal names and near stacks are neighbours.
struct FleetRow {
  Kind kind = Kind::tick;
  LeaveReason reason = RecordSum::no_reason;
  NameId process = no_name;
  NameId thread = no_name;
  NameId cgroup = no_name;
  NameId service = no_name;
  FleetFunction function;                // of the table of records only
  uint32_t line = 0;                     // the same
  uint32_t stack = RecordSum::no_stack;  // of the table of paths; records: whether there is one
  uint64_t time = 0;
  uint64_t count = 0;
  uint64_t amount = 0;

  auto key() const {
    return std::tie(kind, process, thread, cgroup, service, function, line, stack, reason, time);
  }
};

void merge_rows(std::vector<FleetRow>& rows) {
  std::ranges::sort(rows, [](const FleetRow& a, const FleetRow& b) { return a.key() < b.key(); });
  size_t last = 0;
  for (size_t i = 1; i < rows.size(); ++i)
    if (rows[last].key() == rows[i].key()) {
      rows[last].count += rows[i].count;
      rows[last].amount += rows[i].amount;
    } else {
      rows[++last] = rows[i];
    }
  rows.resize(std::min(rows.size(), last + 1));
}

class FleetTables final : public Subscriber, private RecordsByTime::Output {
 public:
  explicit FleetTables(const ReportContext& context)
      : names_(context),
        records_(context.processes, context.symbolizer, context.names,
                 records_options(context, false), *this) {}

  void subscribe(Subscriptions& to) override { records_.subscribe(to, *this); }
  bool take(const Arrival& arrival) override { return records_.take(arrival); }
  void end_stream(const Stream& stream) override { records_.end_stream(stream); }
  void end_trace() override {
    records_.end_trace();
    last_time_ = std::max(last_time_, records_.now());
    number();
  }

  bool empty() const { return rows_.empty(); }
  bool write_frames(const Summary& summary, Sink& sink) const;
  bool write_stacks(const Summary& summary, Sink& sink) const;
  bool write_paths(const Summary& summary, Sink& sink) const;
  bool write_records(const Summary& summary, Sink& sink) const;

 private:
  void add(const RecordSum& sum, const RecordsByTime&) override {
    const auto& key = sum.key;
    FleetRow row;
    row.kind = key.kind;
    row.reason = key.reason;
    row.process = names_.process(key.process);
    row.thread = names_.thread(key.thread);
    row.cgroup = names_.cgroup(key.cgroup);
    row.service = names_.service(key.cgroup);
    row.line = key.line;
    row.stack = key.stack;
    row.time = sum.time;
    row.count = sum.count;
    row.amount = sum.amount;
    rows_.push_back(row);
    last_time_ = std::max(last_time_, sum.time);
  }
  void number() {
    std::vector<bool> used(records_.stacks());
    for (const FleetRow& row : rows_)
      if (row.stack != RecordSum::no_stack) used[row.stack] = true;
    numbers_ = number_stacks(records_, std::move(used), false);
    number_functions();
  }
  void number_functions();
  FleetFunction function_of(uint32_t stack) const;
  // The columns up to kind.
  void put_head(ParquetRow& row, uint64_t time, NameId kind) const {
    row.number(ParquetNames::micros(time, records_.epoch())).text(names_.trace(records_.epoch()));
    row.text(names_.host()).text(names_.kernel()).text(kind);
  }
  // The columns up to service.
  void put_thread(ParquetRow& to, const FleetRow& row) const {
    put_head(to, row.time, names_.kind(row.kind));
    to.text(names_.reason(row.reason)).text(row.process).text(row.thread).text(row.cgroup);
    to.text(row.service);
  }
  bool put_sums(ParquetRow& to, const FleetRow& row) const {
    to.number(static_cast<int64_t>(row.count));
    to.number_or_null(names_.amount(row.kind, row.count, row.amount)).text(names_.unit(row.kind));
    return to.end();
  }

  const ParquetNames names_;
  RecordsByTime records_;
  std::vector<FleetRow> rows_;
  StackNumbers numbers_;
  std::map<FleetFunction, int64_t> functions_;  // numbers in the table of frames
  uint64_t last_time_ = 0;
};

FleetFunction FleetTables::function_of(uint32_t stack) const {
  const Frame& frame = records_.innermost(stack);
  return {names_.module(frame),   names_.build_id(frame),
          names_.function(frame), frame.found == Found::function,
          frame.file_address,     frame.kernel,
          frame.guessed};
}

void FleetTables::number_functions() {
  for (const uint32_t stack : numbers_.order) functions_.try_emplace(function_of(stack));
  int64_t number = 0;
  for (auto& [function, place] : functions_) place = number++;
}

bool FleetTables::write_frames(const Summary& summary, Sink& sink) const {
  ParquetWriter writer(names_.names(), frame_columns(), sink);
  for (const auto& [function, number] : functions_) {
    ParquetRow row(writer);
    row.text(names_.trace(records_.epoch())).number(number);
    put_function(row, function);
    row.text(names_.mode(function.kernel)).number(function.guessed ? 1 : 0);
    if (!row.end()) return false;
  }
  return writer.finish(names_.metadata(summary, "frames"));
}

bool FleetTables::write_stacks(const Summary& summary, Sink& sink) const {
  ParquetWriter writer(names_.names(), stack_columns_of_fleet(), sink);
  for (const uint32_t stack : numbers_.order) {
    const uint32_t caller = records_.caller(stack), number = numbers_.shown[stack];
    ParquetRow row(writer);
    row.text(names_.trace(records_.epoch())).number(number);
    row.number(caller == RecordSum::no_stack ? 0 : number - numbers_.shown[caller]);
    row.number(functions_.at(function_of(stack)));
    if (!row.end()) return false;
  }
  return writer.finish(names_.metadata(summary, "stacks"));
}

bool FleetTables::write_paths(const Summary& summary, Sink& sink) const {
  std::vector<FleetRow> rows;
  for (const FleetRow& row : rows_) {
    if (row.stack == RecordSum::no_stack) continue;
    rows.push_back(row);
    rows.back().stack = numbers_.shown[row.stack];
    rows.back().line = 0;
  }
  merge_rows(rows);
  ParquetWriter writer(names_.names(), path_columns(), sink);
  for (const FleetRow& row : rows) {
    ParquetRow to(writer);
    put_thread(to, row);
    to.number(row.stack);
    if (!put_sums(to, row)) return false;
  }
  return writer.finish(names_.metadata(summary, "paths"));
}

bool FleetTables::write_records(const Summary& summary, Sink& sink) const {
  std::vector<FleetRow> rows = rows_;
  for (FleetRow& row : rows) {
    if (row.stack == RecordSum::no_stack) continue;
    row.function = function_of(row.stack);
    row.stack = 0;
  }
  merge_rows(rows);
  ParquetWriter writer(names_.names(), record_columns(), sink);
  for (const FleetRow& row : rows) {
    ParquetRow to(writer);
    put_thread(to, row);
    put_function(to, row.function);
    to.text(row.stack == RecordSum::no_stack ? no_name : names_.mode(row.function.kernel));
    const auto& line = records_.line(row.line);
    to.text(names_.source(line.file));
    if (line.line == 0)
      to.null();
    else
      to.number(line.line);
    if (!put_sums(to, row)) return false;
  }
  for (const ParquetNames::Loss& loss : names_.losses(summary)) {
    ParquetRow to(writer);
    put_head(to, last_time_, names_.name("lost"));
    to.text(loss.reason).null(11).number(static_cast<int64_t>(loss.count)).null(2);
    if (!to.end()) return false;
  }
  return writer.finish(names_.metadata(summary, "records"));
}

}  // namespace

std::unique_ptr<Subscriber> make_fleet(const ReportContext& context, Sink*) {
  return std::make_unique<FleetTables>(context);
}

std::optional<Lack> lack_of_fleet(const Summary& summary) {
  return lack_of_records(summary.find<FleetTables>()->empty());
}

bool write_fleet_frames(const Summary& summary, Sink& sink) {
  return summary.find<FleetTables>()->write_frames(summary, sink);
}

bool write_fleet_stacks(const Summary& summary, Sink& sink) {
  return summary.find<FleetTables>()->write_stacks(summary, sink);
}

bool write_fleet_paths(const Summary& summary, Sink& sink) {
  return summary.find<FleetTables>()->write_paths(summary, sink);
}

bool write_fleet_records(const Summary& summary, Sink& sink) {
  return summary.find<FleetTables>()->write_records(summary, sink);
}

}  // namespace post
