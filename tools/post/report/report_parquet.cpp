// SPDX-License-Identifier: MIT
// Writes tprof.parquet and tprof.stacks.parquet.
#include "report_parquet.h"

#include <fmt/format.h>

#include <array>
#include <map>

#include "analysis/records_by_time.h"
#include "completeness.h"
#include "export/parquet.h"
#include "off_cpu_rows.h"
#include "read/merge.h"
#include "report_export.h"
#include "text/text.h"

namespace post {
namespace {

using Column = ParquetWriter::Column;
using Type = ParquetWriter::Type;
using Kind = RecordSum::Kind;

// Readers must check the first number: it changes if a column changes or goes. The second one
// counts added columns.
constexpr const char* schema_version = "1.1";

enum RowColumn : size_t {
  time_at,
  clock_at,
  trace_at,
  host_at,
  kernel_at,
  kind_at,
  detail_at,
  cpu_at,
  process_at,
  pid_at,
  thread_at,
  tid_at,
  module_at,
  build_id_at,
  function_at,
  mode_at,
  file_at,
  line_at,
  stack_at,
  count_at,
  amount_at,
  unit_at,
  cgroup_at,
  service_at
};

std::vector<Column> row_columns() {
  return {{"time", Type::timestamp},
          {"clock", Type::int64},
          {"trace"},
          {"host", Type::text, true},
          {"kernel", Type::text, true},
          {"kind"},
          {"detail", Type::text, true},
          {"cpu", Type::int32, true, true},
          {"process", Type::text, true},
          {"pid", Type::int64, true, true},
          {"thread", Type::text, true},
          {"tid", Type::int64, true, true},
          {"module", Type::text, true},
          {"build_id", Type::text, true},
          {"function", Type::text, true},
          {"mode", Type::text, true},
          {"file", Type::text, true},
          {"line", Type::int64, true, true},
          {"stack", Type::int64, true, true},
          {"count", Type::int64, false, true},
          {"amount", Type::int64, true},
          {"unit", Type::text, true},
          {"cgroup", Type::text, true},
          {"service", Type::text, true}};
}

std::vector<Column> stack_columns() {
  return {{"trace"},
          {"stack", Type::int64, false, true},
          {"depth", Type::int32, false, true},
          {"module", Type::text, true},
          {"build_id", Type::text, true},
          {"function", Type::text, true},
          {"mode"},
          {"guessed", Type::int32, false, true}};
}

constexpr std::array<const char*, 4> kinds = {"tick", "running", "runnable", "blocked"};
constexpr std::array<const char*, PITRACE_LOST_REASONS> losses = {"full", "stopped", "too_long",
                                                                  "source"};

class ParquetRecords final : public Subscriber, private RecordsByTime::Output {
 public:
  ParquetRecords(const ReportContext& context, Sink& sink)
      : file_(context.file),
        names_(context.names),
        records_(context.processes, context.symbolizer, context.names,
                 {.frames = context.frames(),
                  .source = stack_source(context.file.info),
                  .cache_entries = context.cache_entries(1 << 16),
                  .filter = context.filter,
                  .threads = context.options.report.selection.follows_threads(),
                  .ids = !context.options.fleet,
                  .lines = context.options.report.offsets,
                  .bucket = context.options.bucket_ns},
                 *this),
        writer_(context.names, row_columns(), sink),
        ids_(!context.options.fleet),
        bucket_(context.options.bucket_ns),
        begin_(begin_of(context.source, context.file)),
        build_ids_(ids_by_path(context.file.build_ids)),
        host_(name(context.file.info.host)),
        kernel_(name(context.file.info.kernel)),
        ns_(name("ns")),
        mode_{name("user"), name("kernel")} {
    const TraceInfo& info = context.file.info;
    per_tick_ = amount_per_tick(info);
    tick_unit_ = info.tick == "event" ? name(tick_event(info)) : ns_;
    for (size_t i = 0; i < kinds.size(); ++i) kinds_[i] = name(kinds[i]);
    for (LeaveReason i = 0; i < leave_reasons; ++i) reasons_[i] = name(reason_word(i));
  }

  void subscribe(Subscriptions& to) override { records_.subscribe(to, *this); }
  bool take(const Arrival& arrival) override { return records_.take(arrival); }
  void end_stream(const Stream& stream) override { records_.end_stream(stream); }
  void end_trace() override {
    records_.end_trace();
    last_time_ = std::max(last_time_, records_.now());
  }

  bool empty() const { return rows_ == 0; }
  bool end(const Summary& summary) const;
  bool write_stacks(const Summary& summary, Sink& sink) const;

 private:
  NameId name(std::string_view text) const { return names_.intern(text); }

  void add(const RecordSum& sum, const RecordsByTime&) override;
  void put_text(size_t column, NameId text) const {
    if (text == no_name)
      writer_.put_null(column);
    else
      writer_.put(column, text);
  }
  void put_nulls(std::initializer_list<size_t> columns) const {
    for (const size_t column : columns) writer_.put_null(column);
  }
  void put_head(uint64_t time, NameId kind, NameId detail, uint32_t cpu) const;
  void put_function(const Frame& frame, uint32_t stack) const;
  void put_amount(uint64_t count, uint64_t amount, NameId unit) const;
  NameId trace() const;
  NameId build_id(NameId module) const;
  NameId service(NameId cgroup) const;
  static NameId function(const Frame& frame) {
    return has_no_symbol(frame.found) && frame.found != Found::function ? no_name
           : frame.found == Found::no_module                            ? no_name
                                                                        : frame.symbol;
  }
  static NameId module(const Frame& frame) {
    return frame.marker || frame.found == Found::no_module ? no_name : frame.module;
  }
  ParquetWriter::Metadata metadata(const Summary& summary, const char* table) const;

  const TraceFile& file_;
  StringTable& names_;
  RecordsByTime records_;
  mutable ParquetWriter writer_;  // writes to a file that is this one's alone
  const bool ids_;                // rows have them
  const uint64_t bucket_;
  const uint64_t begin_;
  mutable NameId trace_ = no_name;  // known with the first row
  const std::map<std::string, std::string> build_ids_;
  mutable std::unordered_map<NameId, NameId> id_of_module_;
  const NameId host_, kernel_, ns_;
  const std::array<NameId, 2> mode_;
  std::array<NameId, kinds.size()> kinds_{};
  std::array<NameId, leave_reasons + 1> reasons_{};  // the last one is none
  uint64_t per_tick_ = 0;                            // 0: not known
  NameId tick_unit_ = no_name;
  std::vector<bool> used_stacks_;
  uint64_t rows_ = 0;
  uint64_t last_time_ = 0;
};

NameId ParquetRecords::trace() const {
  if (trace_ != no_name) return trace_;
  return trace_ = name(fmt::format("{} {}", file_.info.host.empty() ? "trace" : file_.info.host,
                                   begin_ + records_.epoch()));
}

NameId ParquetRecords::build_id(NameId module) const {
  const auto [known, added] = id_of_module_.try_emplace(module, no_name);
  if (added)
    if (const auto id = build_ids_.find(names_.text(module)); id != build_ids_.end())
      known->second = name(id->second);
  return known->second;
}

NameId ParquetRecords::service(NameId cgroup) const {
  if (cgroup == no_name) return no_name;
  const std::string found = service_of(names_.text(cgroup));
  return found.empty() ? no_name : name(found);
}

void ParquetRecords::put_head(uint64_t time, NameId kind, NameId detail, uint32_t cpu) const {
  writer_.put(time_at, static_cast<int64_t>((time + records_.epoch()) / 1000));
  writer_.put(clock_at, static_cast<int64_t>(time));
  writer_.put(trace_at, trace());
  put_text(host_at, host_);
  put_text(kernel_at, kernel_);
  writer_.put(kind_at, kind);
  put_text(detail_at, detail);
  if (cpu == RecordSum::no_cpu)
    writer_.put_null(cpu_at);
  else
    writer_.put(cpu_at, cpu);
}

void ParquetRecords::put_function(const Frame& frame, uint32_t stack) const {
  put_text(module_at, module(frame));
  put_text(build_id_at, build_id(module(frame)));
  put_text(function_at, function(frame));
  writer_.put(mode_at, mode_[frame.kernel]);
  writer_.put(stack_at, stack);
}

void ParquetRecords::put_amount(uint64_t count, uint64_t amount, NameId unit) const {
  writer_.put(count_at, static_cast<int64_t>(count));
  put_text(unit_at, unit);
  if (unit == no_name)
    writer_.put_null(amount_at);
  else
    writer_.put(amount_at, static_cast<int64_t>(amount));
}

void ParquetRecords::add(const RecordSum& sum, const RecordsByTime&) {
  const auto& key = sum.key;
  put_head(sum.time, kinds_[static_cast<size_t>(key.kind)], reasons_[key.reason], sum.cpu);
  put_text(process_at, key.process);
  put_text(thread_at, key.thread);
  put_text(cgroup_at, key.cgroup);
  put_text(service_at, service(key.cgroup));
  if (ids_) {
    writer_.put(pid_at, key.pid);
    writer_.put(tid_at, key.tid);
  } else {
    put_nulls({pid_at, tid_at});
  }
  if (key.stack == RecordSum::no_stack) {
    put_nulls({module_at, build_id_at, function_at, mode_at, stack_at});
  } else {
    if (used_stacks_.size() <= key.stack) used_stacks_.resize(key.stack + 1);
    used_stacks_[key.stack] = true;
    put_function(records_.innermost(key.stack), key.stack);
  }
  const auto& line = records_.line(key.line);
  put_text(file_at, line.file);
  if (line.line == 0)
    writer_.put_null(line_at);
  else
    writer_.put(line_at, line.line);
  if (key.kind != Kind::tick)
    put_amount(sum.count, sum.amount, ns_);
  else
    put_amount(sum.count, sum.count * per_tick_, per_tick_ == 0 ? no_name : tick_unit_);
  ++rows_;
  last_time_ = std::max(last_time_, sum.time);
  writer_.end_row();  // the file remembers errors
}

ParquetWriter::Metadata ParquetRecords::metadata(const Summary& summary, const char* table) const {
  ParquetWriter::Metadata all{{"pitrace.schema", fmt::format("{} {}", table, schema_version)},
                              {"pitrace.bucket_ns", std::to_string(bucket_)},
                              {"pitrace.source", printable(file_.info.source)},
                              {"pitrace.scope", printable(file_.info.scope)}};
  for (const std::string& text : file_.info.cannot_see)
    all.emplace_back(fmt::format("pitrace.cannot_see.{}", all.size()), printable(text));
  if (const std::string missing = what_is_missing(summary.file, summary.losses); !missing.empty())
    all.emplace_back("pitrace.missing", missing);
  if (is_damaged(summary.file, summary.damage)) all.emplace_back("pitrace.damaged", "true");
  return all;
}

// A row for each buffer and reason; the trace does not say when each record was lost.
bool ParquetRecords::end(const Summary& summary) const {
  for (const auto& [key, counts] : summary.losses.lossy)
    for (size_t reason = 0; reason < losses.size(); ++reason) {
      if (counts.lost[reason] == 0) continue;
      put_head(last_time_, name("lost"), name(losses[reason]), key.cpu);
      put_nulls({process_at, pid_at, thread_at, tid_at, module_at, build_id_at, function_at,
                 mode_at, file_at, line_at, stack_at, cgroup_at, service_at});
      put_amount(counts.lost[reason], 0, no_name);
      if (!writer_.end_row()) return false;
    }
  return writer_.finish(metadata(summary, "records"));
}

bool ParquetRecords::write_stacks(const Summary& summary, Sink& sink) const {
  ParquetWriter writer(names_, stack_columns(), sink);
  const auto put = [&](size_t column, NameId text) {
    if (text == no_name)
      writer.put_null(column);
    else
      writer.put(column, text);
  };
  const NameId trace_name = trace();
  for (uint32_t stack = 0; stack < used_stacks_.size(); ++stack) {
    if (!used_stacks_[stack]) continue;
    int64_t depth = 0;
    for (const FrameId id : records_.stack(stack)) {
      const Frame& frame = records_.frames_of(stack).frame(id);
      writer.put(0, trace_name);
      writer.put(1, stack);
      writer.put(2, depth++);
      put(3, module(frame));
      put(4, build_id(module(frame)));
      put(5, function(frame));
      writer.put(6, mode_[frame.kernel]);
      writer.put(7, frame.guessed ? 1 : 0);
      if (!writer.end_row()) return false;
    }
  }
  return writer.finish(metadata(summary, "stacks"));
}

}  // namespace

std::map<std::string, std::string> ids_by_path(const std::vector<BuildId>& build_ids) {
  std::map<std::string, std::string> ids;
  for (const BuildId& each : build_ids) {
    const bool known = !each.id.empty() && each.id != "?" && each.id != "!";
    const auto [at, added] =
        ids.try_emplace(printable(each.path), known ? printable(each.id) : std::string());
    if (!added && at->second != each.id) at->second.clear();
  }
  return ids;
}

std::string service_of(const std::string& cgroup) {
  constexpr std::string_view suffix = ".service";
  std::string_view rest = cgroup;
  while (!rest.empty()) {
    const size_t slash = rest.rfind('/');
    const std::string_view group = slash == rest.npos ? rest : rest.substr(slash + 1);
    if (group.ends_with(suffix) && group != suffix)
      return std::string(group.substr(0, group.size() - suffix.size()));
    rest = rest.substr(0, slash == rest.npos ? 0 : slash);
  }
  return cgroup.substr(cgroup.rfind('/') + 1);
}

std::unique_ptr<Subscriber> make_parquet(const ReportContext& context, Sink* sink) {
  return std::make_unique<ParquetRecords>(context, *sink);
}

std::unique_ptr<Subscriber> make_fleet(const ReportContext& context, Sink* sink) {
  return make_parquet(context, sink);
}

std::optional<Lack> lack_of_rows(const Summary& summary) {
  return lack_of_records(summary.find<ParquetRecords>()->empty());
}

bool end_parquet(const Summary& summary, Sink&) {
  return summary.find<ParquetRecords>()->end(summary);
}

bool write_parquet_stacks(const Summary& summary, Sink& sink) {
  return summary.find<ParquetRecords>()->write_stacks(summary, sink);
}

}  // namespace post
