// SPDX-License-Identifier: MIT
// Writes the files of --export that have an axis of time.
#include "report_timed.h"

#include "export/timed.h"
#include "read/merge.h"
#include "report_export.h"
#include "text/text.h"

namespace post {
namespace {

using MakeWriter = std::unique_ptr<TimedWriter> (*)(const TimedFacts& facts, Sink& sink);

enum class Content {
  ticks,
  states,  // of threads, from context switches, too
  events,  // also each switch, wake-up and user hook
};

template <MakeWriter make, Content content>
class TimedExport final : public Subscriber, private RecordsByTime::Output {
 public:
  TimedExport(const ReportContext& context, Sink& sink)
      : records_(context.processes, context.symbolizer, context.names,
                 {.frames = context.frames(),
                  .source = stack_source(context.file.info),
                  .cache_entries = context.cache_entries(1 << 16),
                  .filter = context.filter,
                  .threads = content != Content::ticks &&
                             context.options.report.selection.follows_threads(),
                  .events = content == Content::events},
                 *this),
        writer_(make(
            {context.names, tick_event(context.file.info), begin_of(context.source, context.file),
             amount_per_tick(context.file.info), context.options.directory, context.file.info.host,
             context.file.info.kernel, context.file.info.machine},
            sink)) {}

  void subscribe(Subscriptions& to) override { records_.subscribe(to, *this); }
  bool take(const Arrival& arrival) override { return records_.take(arrival); }
  void end_stream(const Stream& stream) override { records_.end_stream(stream); }
  void end_trace() override { records_.end_trace(); }

  bool empty() const { return empty_; }
  void end(const Summary& summary) const { writer_->finish(records_, remarks_of(summary)); }

 private:
  void add(const RecordSum& record, const RecordsByTime& from) override {
    writer_->add(record, from);
    empty_ = false;
  }
  void add(const ThreadSwitch& event) override { writer_->add(event); }
  void add(const ThreadWake& event) override { writer_->add(event); }
  void add(const UserHook& event) override { writer_->add(event); }

  RecordsByTime records_;
  const std::unique_ptr<TimedWriter> writer_;
  bool empty_ = true;
};

using Chrome = TimedExport<make_chrome_writer, Content::states>;
using PerfScript = TimedExport<make_perf_script_writer, Content::ticks>;
using Ctf = TimedExport<make_ctf_writer, Content::events>;
using Firefox = TimedExport<make_firefox_writer, Content::events>;
using Perfetto = TimedExport<make_perfetto_writer, Content::events>;

}  // namespace

std::unique_ptr<Subscriber> make_chrome(const ReportContext& context, Sink* sink) {
  return std::make_unique<Chrome>(context, *sink);
}

std::optional<Lack> lack_of_chrome(const Summary& summary) {
  return lack_of_records(summary.find<Chrome>()->empty());
}

bool end_chrome(const Summary& summary, Sink&) {
  summary.find<Chrome>()->end(summary);
  return true;
}

std::unique_ptr<Subscriber> make_ctf(const ReportContext& context, Sink* sink) {
  return std::make_unique<Ctf>(context, *sink);
}

std::optional<Lack> lack_of_ctf(const Summary& summary) {
  return lack_of_records(summary.find<Ctf>()->empty());
}

bool end_ctf(const Summary& summary, Sink&) {
  summary.find<Ctf>()->end(summary);
  return true;
}

std::unique_ptr<Subscriber> make_firefox(const ReportContext& context, Sink* sink) {
  return std::make_unique<Firefox>(context, *sink);
}

std::optional<Lack> lack_of_firefox(const Summary& summary) {
  return lack_of_records(summary.find<Firefox>()->empty());
}

bool end_firefox(const Summary& summary, Sink&) {
  summary.find<Firefox>()->end(summary);
  return true;
}

std::unique_ptr<Subscriber> make_perfetto(const ReportContext& context, Sink* sink) {
  return std::make_unique<Perfetto>(context, *sink);
}

std::optional<Lack> lack_of_perfetto(const Summary& summary) {
  return lack_of_records(summary.find<Perfetto>()->empty());
}

bool end_perfetto(const Summary& summary, Sink&) {
  summary.find<Perfetto>()->end(summary);
  return true;
}

std::unique_ptr<Subscriber> make_perf_script(const ReportContext& context, Sink* sink) {
  return std::make_unique<PerfScript>(context, *sink);
}

bool end_perf_script(const Summary& summary, Sink&) {
  summary.find<PerfScript>()->end(summary);
  return true;
}

}  // namespace post
