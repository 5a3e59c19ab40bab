// SPDX-License-Identifier: MIT
// tprof.out: the reports on ticks as text. The shape is documented in tprof.out(5); programs
// compare and parse it, so that every blank counts.
#include "report_tprof.h"

#include <fmt/format.h>

#include "report_rows.h"
#include "text.h"

namespace post {
namespace {

std::string or_unknown(uint64_t value) {
  return value == 0 ? "unknown" : std::to_string(value);
}

std::string label(std::string_view name, std::string_view value) {
  return fmt::format("{:>20}  {}\n", name, value);
}

std::string platform_text(const TraceInfo& info) {
  if (!info.platform.empty()) return info.platform;
  if (info.kernel.empty() && info.machine.empty()) return "unknown";
  return fmt::format("Linux {} {}", info.kernel, info.machine);
}

std::string facts(const Summary& summary) {
  const uint64_t time = summary.ticks.last_time - summary.ticks.first_time;
  const uint64_t milliseconds = time / 1'000'000 + (time % 1'000'000 >= 500'000);
  return label("Processors", or_unknown(summary.file.cpus)) +
         label("ProcessorSpeed", or_unknown(processor_speed(summary))) +
         label("TraceCycles", std::to_string(time)) +
         label("TraceTime", fmt::format("{}.{:03}(sec)", milliseconds / 1000, milliseconds % 1000));
}

std::string mode_line(const Summary& summary) {
  const uint64_t distance = tick_distance(summary);
  if (distance == 0) return " Time-based mode\n";
  return fmt::format(" Time-based mode, ticks every {} microseconds (~{} ticks/sec)\n",
                     (distance + 500) / 1000, (1'000'000'000 + distance / 2) / distance);
}

std::string source_text(const TraceInfo& info) {
  if (info.source == "driver") return "driver (the pitrace module)";
  if (info.source == "perf") return "perf (perf_event_open, without the pitrace module)";
  return info.source.empty() ? "unknown" : info.source;
}

std::string scope_text(const TraceInfo& info) {
  if (info.scope == "system") return "the whole system";
  if (info.scope == "process") return fmt::format("process {} and its children only", info.pid);
  return info.scope.empty() ? "unknown" : info.scope;
}

std::string origin(const Summary& summary) {
  const TraceInfo& info = summary.file.info;
  std::string text = sentence("Source", source_text(info)) + sentence("Scope", scope_text(info));
  for (const std::string& what : info.cannot_see) text += sentence("Cannot see", what);
  for (const std::string& note : info.notes) text += sentence("Note", note);
  for (const std::string& what : selection_texts(summary.options.selection))
    text += sentence("Only", what);
  for (const auto& [lead, what] : loss_sentences(summary.file, summary.losses))
    text += sentence(lead, what);
  if (summary.damage.any())
    text += sentence("Damaged", fmt::format("the trace file, in {} places ({} bytes not used); see "
                                            "the end of this report.",
                                            summary.damage.places(), summary.damage.bytes()));
  return text;
}

std::string totals(const Summary& summary) {
  const double clip = summary.options.clip_percent;
  const std::string tenths = fmt::format("{:.1f}", clip);
  const std::string clip_text = std::stod(tenths) == clip ? tenths : fmt::format("{}", clip);
  return fmt::format(" TOTAL TICKS {:>14}\n (Clipping Level : {} % {} Ticks)\n",
                     summary.ticks.ticks, clip_text, clip_ticks(summary));
}

std::string contents(const Summary& summary) {
  std::string text = fmt::format("{}    TPROF Report Summary\n\n", banner);
  for (const ReportKind* kind : chosen_reports(summary.options))
    text += fmt::format("    )) {}\n", kind->title);
  if (summary.options.offsets) text += fmt::format("    )) {}\n", offset_report_kind().title);
  for (const ReportKind& kind : summary.options.extra)
    text += fmt::format("    )) {}\n", kind.title);
  return text + std::string(banner);
}

std::string report(const Summary& summary, const ReportKind& kind) {
  std::string text = fmt::format("\n{}    )) {}\n{}\n LAB       TKS   %%%   NAMES\n\n", banner,
                                 kind.title, banner);
  uint32_t depth = 0;
  for (const Row& row : make_rows(summary.tree, summary.names, kind, clip_ticks(summary))) {
    if (row.depth < depth) text += '\n';
    depth = row.depth;
    const std::string indent(depth, ' ');
    text +=
        fmt::format("{:<8}{:>6} {:5.2f}   {}{}\n", ' ' + indent + level_label(row.level), row.ticks,
                    percent(row.ticks, summary.ticks.ticks), indent, row_name(row, summary.names));
  }
  return text;
}

std::string record_line(const RecordTotals& records) {
  const uint64_t tprof = records.by_major[PITRACE_MAJOR_TPROF];
  const uint64_t mte = records.by_major[PITRACE_MAJOR_MTE];
  const uint64_t startup = records.by_major[PITRACE_MAJOR_SYSTEM];
  const uint64_t time = records.times();
  return sentence(
      "Records read",
      fmt::format("{} (tprof {}, MTE {}, start-up {}, time {}, other {})", records.records, tprof,
                  mte, startup, time, records.records - tprof - mte - startup - time));
}

std::string lost_lines(const Losses& losses) {
  if (losses.lost() == 0)
    return sentence("Lost", losses.counted ? "0" : "0 as far as the file tells");
  std::string text =
      sentence("Lost", fmt::format("{}: {}", losses.lost(), lost_reasons(losses.total)));
  for (const auto& [key, counts] : losses.lossy)
    text += wrapped(fmt::format("   {} : ", buffer_name(key)),
                    fmt::format("{}: {}", counts.lost_sum(), lost_reasons(counts)));
  return text;
}

std::string closing(const Summary& summary) {
  const TickTotals& ticks = summary.ticks;
  std::string text = fmt::format("\n{}    End of Reports\n{}\n", banner, banner);
  text += record_line(summary.records);
  const StreamCounts& total = summary.losses.total;
  if (summary.losses.counted)
    text += sentence("Records produced", fmt::format("{} ({} written, {} lost)", total.produced,
                                                     total.written, summary.losses.lost()));
  text += lost_lines(summary.losses);
  text += sentence("Unresolved ticks",
                   fmt::format("{} without a module ({:.2f} %), {} without a symbol ({:.2f} %)",
                               ticks.no_module, percent(ticks.no_module, ticks.ticks),
                               ticks.no_symbol, percent(ticks.no_symbol, ticks.ticks)));
  for (const LimitResult& result : summary.budget)
    text += sentence("Budget", limit_text(result, ticks.ticks));
  for (const std::string& message : summary.damage.messages()) text += sentence("Damaged", message);
  const uint64_t more = summary.damage.places() - summary.damage.messages().size();
  if (more != 0) text += sentence("Damaged", fmt::format("and {} more places", more));
  for (const std::string& note : summary.symbol_notes) text += sentence("Symbols", note);
  return text + "</pre>\n";
}

}  // namespace

bool write_tprof(const Summary& summary, Sink& sink) {
  std::string text = "<pre>\n Tprof Reports\n\n";
  text += sentence("Platform", platform_text(summary.file.info)) + '\n' + facts(summary) + '\n';
  if (summary.options.mode_line) text += mode_line(summary) + '\n';
  text += origin(summary) + '\n' + totals(summary) + '\n';
  text += contents(summary);
  bool good = sink.write(text);
  for (const ReportKind* kind : chosen_reports(summary.options))
    good = sink.write(report(summary, *kind)) && good;
  if (summary.options.offsets)
    good = sink.write("\n Offset Report\n" + report(summary, offset_report_kind())) && good;
  if (!summary.options.extra.empty()) good = sink.write("\n Extra Tree Reports\n") && good;
  for (const ReportKind& kind : summary.options.extra)
    good = sink.write(report(summary, kind)) && good;
  return sink.write(closing(summary)) && good;
}

}  // namespace post
