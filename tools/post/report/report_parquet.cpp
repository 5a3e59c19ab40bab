// SPDX-License-Identifier: MIT
// Writes tprof.parquet and tprof.stacks.parquet.
#include "report_parquet.h"

#include <algorithm>

#include "parquet_names.h"
#include "report_export.h"

namespace post {
namespace {

using Form = ParquetWriter::Form;
using Type = ParquetWriter::Type;

// Readers must check the first number: it changes if a column changes or goes. The second one
// counts added columns.
constexpr const char* table_version = "2.0";

std::vector<ParquetWriter::Column> row_columns() {
  return {{"time", Type::timestamp, false, Form::differences},
          {"clock", Type::int64, false, Form::differences},
          {"trace"},
          {"host", Type::text, true},
          {"kernel", Type::text, true},
          {"kind"},
          {"detail", Type::text, true},
          {"cpu", Type::int32, true, Form::dictionary},
          {"process", Type::text, true},
          {"pid", Type::int64, true, Form::dictionary},
          {"thread", Type::text, true},
          {"tid", Type::int64, true, Form::dictionary},
          {"module", Type::text, true},
          {"build_id", Type::text, true},
          {"function", Type::text, true},
          {"mode", Type::text, true},
          {"file", Type::text, true},
          {"line", Type::int64, true, Form::dictionary},
          {"stack", Type::int32, true, Form::dictionary},
          {"count", Type::int64, false, Form::dictionary},
          {"amount", Type::int64, true},
          {"unit", Type::text, true},
          {"cgroup", Type::text, true},
          {"service", Type::text, true}};
}

std::vector<ParquetWriter::Column> stack_columns() {
  return {{"trace"},
          {"stack", Type::int32, false, Form::differences},
          {"parent", Type::int32, true, Form::differences},
          {"module", Type::text, true},
          {"build_id", Type::text, true},
          {"function", Type::text, true},
          {"mode"},
          {"guessed", Type::int32, false, Form::dictionary}};
}

std::optional<int64_t> unless(uint32_t none, uint32_t value) {
  return value == none ? std::nullopt : std::optional<int64_t>(value);
}

class ParquetRecords final : public Subscriber, private RecordsByTime::Output {
 public:
  ParquetRecords(const ReportContext& context, Sink& sink)
      : names_(context),
        records_(context.processes, context.symbolizer, context.names,
                 records_options(context, true), *this),
        writer_(context.names, row_columns(), sink, ParquetWriter::quick) {}

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
  void add(const RecordSum& sum, const RecordsByTime&) override;
  // A function without a symbol has the name that post gives it.
  NameId shown_function(const Frame& frame) const {
    return frame.found == Found::function ? frame.symbol : names_.function(frame);
  }
  // The first six columns.
  void put_head(ParquetRow& row, uint64_t time, NameId kind) const {
    row.number(ParquetNames::micros(time, records_.epoch())).number(static_cast<int64_t>(time));
    row.text(names_.trace(records_.epoch())).text(names_.host()).text(names_.kernel()).text(kind);
  }

  const ParquetNames names_;
  RecordsByTime records_;
  mutable ParquetWriter writer_;  // writes to a file that is this one's alone
  std::vector<bool> used_stacks_;
  uint64_t rows_ = 0;
  uint64_t last_time_ = 0;
};

void ParquetRecords::add(const RecordSum& sum, const RecordsByTime&) {
  const auto& key = sum.key;
  ParquetRow row(writer_);
  put_head(row, sum.time, names_.kind(key.kind));
  row.text(names_.reason(key.reason)).number_or_null(unless(RecordSum::no_cpu, sum.cpu));
  row.text(key.process).number(key.pid).text(key.thread).number(key.tid);
  if (key.stack == RecordSum::no_stack) {
    row.null(4);
  } else {
    if (used_stacks_.size() <= key.stack) used_stacks_.resize(key.stack + 1);
    used_stacks_[key.stack] = true;
    const Frame& frame = records_.innermost(key.stack);
    row.text(names_.module(frame)).text(names_.build_id(frame)).text(shown_function(frame));
    row.text(names_.mode(frame.kernel));
  }
  const auto& line = records_.line(key.line);
  row.text(line.file).number_or_null(unless(0, line.line));
  row.number_or_null(unless(RecordSum::no_stack, key.stack));
  row.number(static_cast<int64_t>(sum.count));
  row.number_or_null(names_.amount(key.kind, sum.count, sum.amount)).text(names_.unit(key.kind));
  row.text(key.cgroup).text(names_.service(key.cgroup));
  row.end();  // the file remembers errors
  ++rows_;
  last_time_ = std::max(last_time_, sum.time);
}

bool ParquetRecords::write_stacks(const Summary& summary, Sink& sink) const {
  ParquetWriter writer(names_.names(), stack_columns(), sink);
  for (const uint32_t stack :
       number_stacks([this](uint32_t number) { return records_.caller(number); }, used_stacks_,
                     true)
           .order) {
    const Frame& frame = records_.innermost(stack);
    ParquetRow row(writer);
    row.text(names_.trace(records_.epoch())).number(stack);
    row.number_or_null(unless(RecordSum::no_stack, records_.caller(stack)));
    row.text(names_.module(frame)).text(names_.build_id(frame)).text(shown_function(frame));
    row.text(names_.mode(frame.kernel)).number(frame.guessed ? 1 : 0);
    if (!row.end()) return false;
  }
  return writer.finish(names_.metadata(summary, "stacks", table_version));
}

bool ParquetRecords::end(const Summary& summary) const {
  for (const ParquetNames::Loss& loss : names_.losses(summary)) {
    ParquetRow row(writer_);
    put_head(row, last_time_, names_.name("lost"));
    row.text(loss.reason).number(loss.cpu).null(11);
    row.number(static_cast<int64_t>(loss.count)).null(4);
    if (!row.end()) return false;
  }
  return writer_.finish(names_.metadata(summary, "records", table_version));
}

}  // namespace

std::unique_ptr<Subscriber> make_parquet(const ReportContext& context, Sink* sink) {
  return std::make_unique<ParquetRecords>(context, *sink);
}

std::optional<Lack> lack_of_rows(const Summary& summary) {
  return lack_of_records(summary, summary.find<ParquetRecords>()->empty());
}

bool end_parquet(const Summary& summary, Sink&) {
  return summary.find<ParquetRecords>()->end(summary);
}

bool write_parquet_stacks(const Summary& summary, Sink& sink) {
  return summary.find<ParquetRecords>()->write_stacks(summary, sink);
}

}  // namespace post
