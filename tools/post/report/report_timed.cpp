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
  uint64_t text_bytes() const { return writer_->text_bytes(); }
  void end(const Summary& summary) const {
    writer_->finish(records_, remarks_of(summary, records_.has_guesses()));
  }

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

template <MakeWriter make_writer, Content content>
struct TimedFormat {
  using Export = TimedExport<make_writer, content>;
  static std::unique_ptr<Subscriber> make(const ReportContext& context, Sink* sink) {
    return std::make_unique<Export>(context, *sink);
  }
  static std::optional<Lack> lack(const Summary& summary) {
    return lack_of_records(summary, summary.find<Export>()->empty());
  }
  static bool write(const Summary& summary, Sink&) {
    summary.find<Export>()->end(summary);
    return true;
  }
  static uint64_t text_bytes(const Summary& summary) {
    return summary.find<Export>()->text_bytes();
  }
  static constexpr TimedReport functions = {make, lack, write, text_bytes};
};

}  // namespace

constinit const TimedReport chrome_report =
    TimedFormat<make_chrome_writer, Content::states>::functions;
constinit const TimedReport ctf_report = TimedFormat<make_ctf_writer, Content::events>::functions;
constinit const TimedReport firefox_report =
    TimedFormat<make_firefox_writer, Content::events>::functions;
constinit const TimedReport perf_script_report =
    TimedFormat<make_perf_script_writer, Content::ticks>::functions;
constinit const TimedReport perfetto_report =
    TimedFormat<make_perfetto_writer, Content::events>::functions;

}  // namespace post
