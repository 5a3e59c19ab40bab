// SPDX-License-Identifier: MIT
// Writes tprof.out: the reports on ticks as text. The format is documented in tprof.out(5);
// programs compare and parse it, so that every blank counts.
#include "report_tprof.h"

#include <fmt/format.h>

#include "report_head.h"
#include "report_page.h"
#include "report_rows.h"
#include "text/text.h"

namespace post {
namespace {

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

// The kinds that every trace has, then those that are there.
std::string record_line(const RecordTotals& records) {
  std::string text =
      fmt::format("{} (tprof {}, MTE {}, start-up {}, time {}", records.records,
                  records.by_major[PITRACE_MAJOR_TPROF], records.by_major[PITRACE_MAJOR_MTE],
                  records.by_major[PITRACE_MAJOR_SYSTEM], records.times());
  for (const RecordKind& kind : event_kinds())
    if (records.by_major[kind.major] != 0)
      text += fmt::format(", {} {}", kind.name, records.by_major[kind.major]);
  return sentence("Records read", fmt::format("{}, other {})", text, records.others()));
}

std::string lost_lines(const Losses& losses) {
  if (losses.lost() == 0)
    return sentence("Lost", losses.counted ? "0" : "0 as far as the file shows");
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
  return text + report_end(summary);
}

}  // namespace

bool write_tprof(const Summary& summary, Sink& sink) {
  std::string text = report_head(summary, "Tprof Reports") + '\n' + tick_totals(summary);
  if (summary.options.mode_line) {
    const PageStyle style{.rows = summary.options.page_rows};
    text.insert(text.find('\n') + 1, page_text(summary, style) + '\n');
    text += percentages_of(summary);
  }
  text += '\n';
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
