// SPDX-License-Identifier: MIT
// Writes the files of --export: facts about the trace for the writers in export/.
#include "report_export.h"

#include <fmt/format.h>

#include "completeness.h"
#include "export/export.h"
#include "text/text.h"

namespace post {

std::vector<std::string> remarks_of(const Summary& summary, bool guesses) {
  const TraceInfo& info = summary.file.info;
  std::vector<std::string> remarks = info.cannot_see;
  // Notes can have names of files.
  if (summary.options.privacy.hides_nothing())
    remarks.insert(remarks.end(), info.notes.begin(), info.notes.end());
  if (const std::string missing = what_is_missing(summary.file, summary.losses); !missing.empty())
    remarks.push_back("Not complete: " + missing + ".");
  if (is_damaged(summary.file, summary.damage))
    remarks.push_back("The trace is damaged, or its recording ended early.");
  if (guesses)
    remarks.push_back(
        fmt::format("Functions whose names end in {} are guesses: they are behind code without "
                    "unwind tables, or a signal handler's own stack, and may be wrong.",
                    guess_suffix));
  for (std::string& remark : remarks) remark = printable(remark);
  return remarks;
}

std::string tick_event(const TraceInfo& info) {
  return info.tick == "event" ? printable(info.event) : std::string();
}

uint64_t amount_per_tick(const TraceInfo& info) {
  if (info.tick == "event") return info.period;
  if (info.tick_ns != 0) return info.tick_ns;
  return info.rate == 0 ? 0 : 1'000'000'000 / info.rate;
}

std::optional<Lack> lack_of_records(const Summary& summary, bool empty) {
  if (!empty) return {};
  const auto& recorded = summary.records.by_major;
  if (recorded[PITRACE_MAJOR_TPROF] + recorded[PITRACE_MAJOR_DISPATCH] != 0)
    return Lack{"contains ticks or context switches, but none of them is selected.", ""};
  return Lack{"contains neither ticks nor context switches.",
              "Enable one of them: swtrace enable tprof, swtrace enable dispatch."};
}

namespace {

bool has_guesses(const Summary& summary) {
  return summary.find<CallTree>()->frames().has_guesses();
}

ExportFacts facts_of(const Summary& summary, bool marked_names) {
  const TraceInfo& info = summary.file.info;
  const bool by_event = summary.event_based();
  return {info.host.empty() ? "trace" : "trace of " + printable(info.host),
          remarks_of(summary, marked_names),
          by_event ? printable(event_name(summary)) : std::string(),
          by_event ? events_per_tick(summary) : tick_distance(summary),
          summary.ticks.last_time - summary.ticks.first_time,
          summary.records.epoch == 0 ? 0 : summary.records.epoch + summary.ticks.first_time};
}

}  // namespace

bool export_callgrind(const Summary& summary, Sink& sink) {
  return write_callgrind(*summary.find<CallTree>(), facts_of(summary, false), sink);
}

bool export_pprof(const Summary& summary, Sink& sink) {
  const ShownNames shown(summary.names, summary.options.privacy);
  return write_pprof(*summary.find<CallTree>(), facts_of(summary, has_guesses(summary)), shown,
                     summary.options.labels, sink);
}

bool export_speedscope(const Summary& summary, Sink& sink) {
  return write_speedscope(*summary.find<CallTree>(), facts_of(summary, has_guesses(summary)), sink);
}

}  // namespace post
