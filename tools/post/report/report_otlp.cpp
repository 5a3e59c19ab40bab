// SPDX-License-Identifier: MIT
// Writes tprof.otlp.gz, for --export otlp: sums ticks by service, process, thread and stack.
#include "report_otlp.h"

#include <cli.h>

#include <map>
#include <tuple>
#include <unordered_map>

#include "analysis/records_by_time.h"
#include "analysis/shown_names.h"
#include "completeness.h"
#include "export/otlp.h"
#include "report_export.h"
#include "parquet_names.h"
#include "text/text.h"

namespace post {
namespace {

class OtlpTicks final : public Subscriber, private RecordsByTime::Output {
 public:
  explicit OtlpTicks(const ReportContext& context)
      : names_(context.names),
        shown_(context.names, context.options.report.privacy),
        records_(context.processes, context.symbolizer, context.names,
                 {.frames = context.frames(),
                  .source = stack_source(context.file.info),
                  .cache_entries = context.cache_entries(1 << 16),
                  .filter = context.filter,
                  .threads = false,
                  .ids = false,
                  .bucket = day},
                 *this) {}

  void subscribe(Subscriptions& to) override { records_.subscribe(to, *this); }
  bool take(const Arrival& arrival) override { return records_.take(arrival); }
  void end_stream(const Stream& stream) override { records_.end_stream(stream); }
  void end_trace() override { records_.end_trace(); }

  // The host, frames, stacks and samples.
  void put(OtlpProfile& profile, const std::map<std::string, std::string>& build_ids) const;

 private:
  static constexpr uint64_t day = 86'400'000'000'000;          // sums of several are added up
  using Owner = std::tuple<NameId, NameId, NameId, uint32_t>;  // cgroup, process, thread, stack

  void add(const RecordSum& sum, const RecordsByTime&) override {
    ticks_[{sum.key.cgroup, sum.key.process, sum.key.thread, sum.key.stack}] += sum.count;
  }

  const StringTable& names_;
  const ShownNames shown_;
  RecordsByTime records_;
  std::map<Owner, uint64_t> ticks_;
};

void OtlpTicks::put(OtlpProfile& profile,
                    const std::map<std::string, std::string>& build_ids) const {
  profile.host = shown_.host(profile.host);
  std::unordered_map<FrameId, uint32_t> frames;
  std::unordered_map<uint32_t, size_t> stacks;
  for (const auto& [owner, ticks] : ticks_) {
    const auto& [cgroup, process, thread, stack] = owner;
    const auto [known, is_new] = stacks.try_emplace(stack, profile.stacks.size());
    if (is_new) {
      std::vector<uint32_t>& path = profile.stacks.emplace_back();
      for (const FrameId id : records_.stack(stack)) {
        const auto [at, added] =
            frames.try_emplace(id, static_cast<uint32_t>(profile.frames.size()));
        path.push_back(at->second);
        if (!added) continue;
        const Frame& frame = records_.frames_of(stack).frame(id);
        const auto build = build_ids.find(printable(names_.text(traced_module(frame))));
        profile.frames.push_back(
            {shown_.folded(frame), printable(names_.text(shown_.module(frame))),
             build == build_ids.end() ? std::string() : build->second, frame.kernel});
      }
    }
    profile.samples[names_.text(shown_.service(cgroup))].push_back(
        {names_.text(shown_.command(process)), names_.text(shown_.command(thread)), known->second,
         ticks});
  }
}

}  // namespace

std::unique_ptr<Subscriber> make_otlp(const ReportContext& context, Sink*) {
  return std::make_unique<OtlpTicks>(context);
}

bool write_otlp_report(const Summary& summary, Sink& sink) {
  const TraceInfo& info = summary.file.info;
  const OtlpTicks& ticks = *summary.find<OtlpTicks>();
  OtlpProfile profile;
  profile.host = printable(info.host);
  profile.kernel = printable(info.kernel);
  // Without the program's name and the line feed.
  const std::string version = pi::cli::version_text("post");
  profile.version =
      version.substr(version.rfind(' ') + 1, version.rfind('\n') - version.rfind(' ') - 1);
  profile.event = tick_event(info);
  profile.period = amount_per_tick(info);
  profile.begin_ns = summary.records.epoch + summary.ticks.first_time;
  profile.duration_ns = summary.ticks.last_time - summary.ticks.first_time;
  const auto add = [&](const char* key, const std::string& text) {
    if (!text.empty()) profile.attributes.emplace_back(key, text);
  };
  add("pitrace.source", printable(info.source));
  add("pitrace.missing", what_is_missing(summary.file, summary.losses));
  add("pitrace.damaged", is_damaged(summary.file, summary.damage) ? "true" : "");
  ticks.put(profile, ids_by_path(summary.file.build_ids));
  return write_otlp(profile, sink);
}

}  // namespace post
