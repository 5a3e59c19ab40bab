// SPDX-License-Identifier: MIT
// Writes the head of all text reports.
#include "report_head.h"

#include <fmt/format.h>

#include "interrupts_off.h"
#include "text/text.h"

namespace post {
namespace {

std::string or_unknown(uint64_t value) {
  return value == 0 ? "unknown" : std::to_string(value);
}

std::string label(std::string_view name, std::string_view value) {
  return fmt::format("{:>20}  {}\n", name, value);
}

std::string facts(const Summary& summary, uint64_t time) {
  const uint64_t milliseconds = time / 1'000'000 + (time % 1'000'000 >= 500'000);
  return label("Processors", or_unknown(summary.file.cpus)) +
         label("ProcessorSpeed", or_unknown(processor_speed(summary))) +
         label("TraceCycles", fmt::format("{} (ns)", time)) +
         label("TraceTime", fmt::format("{}.{:03}(sec)", milliseconds / 1000, milliseconds % 1000));
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

// The number of selected ticks, and the words that select none.
void add_selected_ticks(const Summary& summary, std::vector<LeadAndText>& sentences) {
  for (const std::string& remark : summary.selection_remarks)
    sentences.push_back({"Selects nothing", remark});
  const uint64_t all = summary.records.by_major[PITRACE_MAJOR_TPROF];
  if (all == 0 || selection_texts(summary.options.selection).empty()) return;
  sentences.push_back({"Selected", fmt::format("{} of {} ticks ({:.2f} %).", summary.ticks.ticks,
                                               all, percent(summary.ticks.ticks, all))});
}

std::string text_of(const std::vector<LeadAndText>& sentences) {
  std::string text;
  for (const auto& [lead, what] : sentences) text += sentence(lead, what);
  return text;
}

std::string title_lines(const Summary& summary, const std::string& title, uint64_t time) {
  return fmt::format("<pre>\n {}\n\n", title) +
         sentence("Platform", platform_text(summary.file.info)) + '\n' + facts(summary, time) +
         '\n';
}

}  // namespace

std::string platform_text(const TraceInfo& info) {
  if (!info.platform.empty()) return info.platform;
  if (info.kernel.empty() && info.machine.empty()) return "unknown";
  return fmt::format("Linux {} {}", info.kernel, info.machine);
}

std::string mode_text(const Summary& summary) {
  if (summary.event_based())
    return fmt::format("Event-based mode, ticks every {} {}", or_unknown(events_per_tick(summary)),
                       event_name(summary));
  const uint64_t distance = tick_distance(summary);
  if (distance == 0) return "Time-based mode";
  return fmt::format("Time-based mode, ticks every {} microseconds (~{} ticks/sec)",
                     (distance + 500) / 1000, (1'000'000'000 + distance / 2) / distance);
}

std::vector<LeadAndText> origin_sentences(const Summary& summary) {
  const TraceInfo& info = summary.file.info;
  std::vector<LeadAndText> sentences = {{"Source", source_text(info)}, {"Scope", scope_text(info)}};
  if (!info.clock.empty()) sentences.push_back({"Clock", info.clock});
  for (const std::string& what : info.cannot_see) sentences.push_back({"Cannot see", what});
  if (const std::string off = interrupts_off_text(summary); !off.empty())
    sentences.push_back({"Note", off});
  for (const std::string& note : info.notes) sentences.push_back({"Note", note});
  for (const std::string& what : selection_texts(summary.options.selection))
    sentences.push_back({"Only", what});
  add_selected_ticks(summary, sentences);
  for (const LeadAndText& loss : loss_sentences(summary.file, summary.losses))
    sentences.push_back(loss);
  if (summary.damage.any())
    sentences.push_back(
        {"Damaged",
         fmt::format("the trace file{}, in {} places ({} bytes not used); see "
                     "the end of this report.",
                     summary.damage.in_other_files() ? " or a log of names that belongs to it" : "",
                     summary.damage.places(), summary.damage.bytes())});
  return sentences;
}

std::string report_head(const Summary& summary, const std::string& title) {
  const uint64_t time = summary.ticks.last_time - summary.ticks.first_time;
  std::string text = title_lines(summary, title, time);
  if (summary.options.mode_line) text += ' ' + mode_text(summary) + "\n\n";
  return text + text_of(origin_sentences(summary));
}

std::string report_head(const Summary& summary, const std::string& title, uint64_t time) {
  return title_lines(summary, title, time) + text_of(origin_sentences(summary));
}

std::vector<LeadAndText> end_sentences(const Summary& summary) {
  std::vector<LeadAndText> sentences;
  for (const std::string& message : summary.damage.messages())
    sentences.push_back({"Damaged", message});
  const uint64_t more = summary.damage.places() - summary.damage.messages().size();
  if (more != 0) sentences.push_back({"Damaged", fmt::format("and {} more places", more)});
  for (const std::string& note : summary.symbol_notes) sentences.push_back({"Symbols", note});
  for (const Hint& hint : summary.hints) sentences.push_back({"Hint", hint.text});
  return sentences;
}

std::string report_end(const Summary& summary) {
  return text_of(end_sentences(summary)) + "</pre>\n";
}

std::string clip_text(const Summary& summary) {
  const double clip = summary.options.clip_percent;
  const std::string tenths = fmt::format("{:.1f}", clip);
  return std::stod(tenths) == clip ? tenths : fmt::format("{}", clip);
}

std::string percentages_of(const Summary& summary) {
  if (!selection_texts(summary.options.selection).empty())
    return " Percentages below are of the selected ticks.\n";
  const TraceInfo& info = summary.file.info;
  if (info.scope == "process")
    return fmt::format(" Percentages below are of all ticks of process {} and its children.\n",
                       info.pid);
  return info.has_all_processes() ? " Percentages below are of all ticks of all processors, idle "
                                    "included (SystemProcess).\n"
                                  : " Percentages below are of all ticks of these processes.\n";
}

std::string tick_totals(const Summary& summary) {
  return fmt::format(" TOTAL TICKS {:>14}\n (Clipping Level : {} % {} Ticks)\n",
                     summary.ticks.ticks, clip_text(summary), clip_ticks(summary));
}

}  // namespace post
