// SPDX-License-Identifier: MIT
// Writes the tables of --fleet: sums by function, sums by stack, the stacks, and their functions.
#include "report_fleet.h"

#include <algorithm>
#include <compare>
#include <map>
#include <string>
#include <tuple>
#include <unordered_map>

#include "parquet_names.h"
#include "read/merge.h"
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
                         {"period", Type::int64, true, Form::dictionary},
                         {"unit", Type::text, true}});
}

Columns path_columns() {
  return thread_columns({{"stack", Type::int32, false, Form::differences},
                         {"count", Type::int64, false, Form::dictionary},
                         {"amount", Type::int64, true, Form::dictionary},
                         {"period", Type::int64, true, Form::dictionary},
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

// Readers must check the first number: see report_parquet.cpp.
constexpr const char* fleet_version = "3.0";

// In place of the further functions of stacks with few ticks (--rare).
constexpr const char* rare_name = "[rare]";

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

constexpr uint32_t no_function = 0xffffffff;

// Sums that are equal in all but count and amount are one row of a table. They are sorted so that
// equal names and near stacks are neighbours.
struct FleetRow {
  Kind kind = Kind::tick;
  LeaveReason reason = RecordSum::no_reason;
  NameId process = no_name;
  NameId thread = no_name;
  NameId cgroup = no_name;
  NameId service = no_name;
  uint32_t function = no_function;       // of the table of records only
  uint32_t line = 0;                     // the same
  uint32_t stack = RecordSum::no_stack;  // of the table of paths only, when they are merged
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

// "date=2026-11-27/host=web1/1795737600123456789.parquet"; "" if the table has another place.
std::string place_of(const Options& options) {
  constexpr std::string_view above = "/records/";
  const std::string path = options.fleet_records.value_or("");
  const size_t at = path.rfind(above);
  return at == path.npos ? "" : path.substr(at + above.size());
}

class FleetTables final : public Subscriber, private RecordsByTime::Output {
 public:
  explicit FleetTables(const ReportContext& context)
      : names_(context),
        place_(place_of(context.options)),
        rare_below_(context.options.rare_below),
        records_(context.processes, context.symbolizer, context.names,
                 records_options(context, false), *this),
        last_time_(begin_of(context.source, context.file)) {}

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
  void number();
  std::vector<bool> choose_stacks();
  // A stack of the tables: those of RecordsByTime, then those that end in rare_name.
  uint32_t caller(uint32_t stack) const {
    return stack < records_.stacks() ? records_.caller(stack)
                                     : above_rare_[stack - records_.stacks()];
  }
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
    // A constant takes no space, unlike its products.
    if (row.kind == Kind::tick)
      to.null().number_or_null(names_.amount(row.kind, 1, 0));
    else
      to.number_or_null(names_.amount(row.kind, row.count, row.amount)).null();
    return to.text(names_.unit(row.kind)).end();
  }

  const ParquetNames names_;
  const std::string place_;  // of the table of records
  const uint64_t rare_below_;
  RecordsByTime records_;
  std::vector<FleetRow> rows_;
  std::vector<uint32_t> shown_as_;    // by RecordsByTime's stack: the stack of the tables
  std::vector<uint32_t> above_rare_;  // the callers of the stacks that end in rare_name
  StackNumbers numbers_;
  std::map<FleetFunction, int64_t> functions_;  // numbers in the table of frames
  uint64_t last_time_;
};

FleetFunction FleetTables::function_of(uint32_t stack) const {
  if (stack >= records_.stacks()) {
    FleetFunction rare;
    rare.function = names_.name(rare_name);
    return rare;
  }
  const Frame& frame = records_.innermost(stack);
  return {names_.module(frame),   names_.build_id(frame),
          names_.function(frame), frame.found == Found::function,
          frame.file_address,     frame.kernel,
          frame.guessed};
}

// Sets shown_as_ and above_rare_, and returns which stacks of the tables have rows of paths.
std::vector<bool> FleetTables::choose_stacks() {
  const uint32_t count = records_.stacks();
  std::vector<uint64_t> sums(count);  // of the stack and those that it calls
  for (const FleetRow& row : rows_)
    if (row.stack != RecordSum::no_stack) sums[row.stack] += row.count;
  // A caller has a lower number.
  for (uint32_t i = count; i-- > 0;) {
    if (sums[i] == 0) continue;
    if (const uint32_t above = records_.caller(i); above != RecordSum::no_stack)
      sums[above] += sums[i];
  }
  shown_as_.resize(count);
  std::unordered_map<uint32_t, uint32_t> rare_of;  // by the caller
  for (uint32_t i = 0; i < count; ++i) {
    if (sums[i] == 0) continue;
    const uint32_t above = records_.caller(i);
    if (sums[i] >= rare_below_) {
      shown_as_[i] = i;
    } else if (above != RecordSum::no_stack && shown_as_[above] >= count) {
      shown_as_[i] = shown_as_[above];
    } else {
      const auto [rare, added] =
          rare_of.try_emplace(above, count + static_cast<uint32_t>(above_rare_.size()));
      if (added) above_rare_.push_back(above);
      shown_as_[i] = rare->second;
    }
  }
  std::vector<bool> used(count + above_rare_.size());
  for (const FleetRow& row : rows_)
    if (row.stack != RecordSum::no_stack) used[shown_as_[row.stack]] = true;
  return used;
}

void FleetTables::number() {
  numbers_ =
      number_stacks([this](uint32_t stack) { return caller(stack); }, choose_stacks(), false);
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
  return writer.finish(names_.metadata(summary, "frames", fleet_version));
}

bool FleetTables::write_stacks(const Summary& summary, Sink& sink) const {
  ParquetWriter writer(names_.names(), stack_columns_of_fleet(), sink);
  for (const uint32_t stack : numbers_.order) {
    const uint32_t above = caller(stack), number = numbers_.shown[stack];
    ParquetRow row(writer);
    row.text(names_.trace(records_.epoch())).number(number);
    row.number(above == RecordSum::no_stack ? 0 : number - numbers_.shown[above]);
    row.number(functions_.at(function_of(stack)));
    if (!row.end()) return false;
  }
  return writer.finish(names_.metadata(summary, "stacks", fleet_version));
}

bool FleetTables::write_paths(const Summary& summary, Sink& sink) const {
  std::vector<FleetRow> rows;
  for (const FleetRow& row : rows_) {
    if (row.stack == RecordSum::no_stack) continue;
    rows.push_back(row);
    rows.back().stack = numbers_.shown[shown_as_[row.stack]];
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
  return writer.finish(names_.metadata(summary, "paths", fleet_version));
}

bool FleetTables::write_records(const Summary& summary, Sink& sink) const {
  std::map<FleetFunction, uint32_t> numbers;  // in their order
  for (const FleetRow& row : rows_)
    if (row.stack != RecordSum::no_stack) numbers.try_emplace(function_of(row.stack));
  std::vector<const FleetFunction*> functions;
  for (auto& [function, number] : numbers) {
    number = static_cast<uint32_t>(functions.size());
    functions.push_back(&function);
  }
  std::vector<FleetRow> rows = rows_;
  for (FleetRow& row : rows) {
    if (row.stack == RecordSum::no_stack) continue;
    row.function = numbers.at(function_of(row.stack));
    row.stack = RecordSum::no_stack;
  }
  merge_rows(rows);
  const FleetFunction nothing;
  ParquetWriter writer(names_.names(), record_columns(), sink);
  for (const FleetRow& row : rows) {
    ParquetRow to(writer);
    put_thread(to, row);
    const bool known = row.function != no_function;
    const FleetFunction& function = known ? *functions[row.function] : nothing;
    put_function(to, function);
    to.text(known ? names_.mode(function.kernel) : no_name);
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
    to.text(loss.reason).null(11).number(static_cast<int64_t>(loss.count)).null(3);
    if (!to.end()) return false;
  }
  ParquetWriter::Metadata metadata = names_.metadata(summary, "records", fleet_version);
  const int64_t end = ParquetNames::micros(last_time_, records_.epoch());
  metadata.emplace_back("pitrace.end", std::to_string(end));
  metadata.emplace_back("pitrace.place", place_);
  return writer.finish(metadata);
}

}  // namespace

std::unique_ptr<Subscriber> make_fleet(const ReportContext& context, Sink*) {
  return std::make_unique<FleetTables>(context);
}

// A trace in which nothing was recorded is added, too: it has its losses.
std::optional<Lack> lack_of_fleet(const Summary& summary) {
  if (selection_texts(summary.options.selection).empty()) return {};
  return lack_of_records(summary, summary.find<FleetTables>()->empty());
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
