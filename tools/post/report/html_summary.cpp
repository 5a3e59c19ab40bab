// SPDX-License-Identifier: MIT
// The summary at the beginning of the HTML page's data: facts on the trace, and what it lacks.
#include "html_summary.h"

#include <cli.h>
#include <fmt/format.h>

#include "html_base.h"
#include "html_data.h"
#include "html_flow.h"
#include "page_facts.h"
#include "report_calls.h"
#include "report_head.h"
#include "subject.h"
#include "text/text.h"

namespace post {
namespace {

using Json = pi::Json;

Json pairs(const std::vector<LeadAndText>& sentences) {
  Json list = Json::array();
  for (const auto& [lead, text] : sentences) {
    Json pair = Json::array();
    pair.push_back(printable(lead));
    pair.push_back(printable(text));
    list.push_back(std::move(pair));
  }
  return list;
}

// From the first tick to the last one; without ticks, of the instructions.
uint64_t trace_time(const Summary& summary) {
  const auto* const flow = summary.find<HtmlFlow>();
  if (summary.ticks.ticks == 0 && flow != nullptr && flow->totals() != nullptr)
    return flow->totals()->last_time - flow->totals()->first_time;
  return summary.ticks.last_time - summary.ticks.first_time;
}

std::vector<LeadAndText> facts(const Summary& summary, const Subject& subject) {
  std::vector<LeadAndText> facts;
  if (!subject.is_system()) {
    std::string whole = subject.name();
    if (subject.descendants() != 0)
      whole += " and " + plural(subject.descendants(), "descendant", "descendants");
    facts.push_back({"Profile of", whole});
    if (subject.elapsed()) facts.push_back({"Elapsed", duration_text(*subject.elapsed())});
  }
  if (!summary.file.info.host.empty()) facts.push_back({"Host", summary.file.info.host});
  facts.push_back({"Platform", platform_text(summary.file.info)});
  if (summary.file.cpus != 0) facts.push_back({"Processors", std::to_string(summary.file.cpus)});
  if (const uint64_t hertz = processor_speed(summary); hertz != 0)
    facts.push_back({"Processor speed", fmt::format("{} MHz", hertz / 1'000'000)});
  facts.push_back({"Trace time", duration_text(trace_time(summary))});
  facts.push_back({"Ticks", fmt::format("{}. {}", summary.ticks.ticks, mode_text(summary))});
  if (const HtmlBase* const base = summary.base)
    facts.push_back({"Compared with", fmt::format("{}, {} ticks", base->path, base->ticks)});
  return facts;
}

// The sentences with which reports begin and end.
std::vector<LeadAndText> notes(const Summary& summary, const PathsByTime& ticks) {
  std::vector<LeadAndText> notes = origin_sentences(summary);
  if (ticks.calls().stacks().with() != 0)
    for (const LeadAndText& sentence : stack_sentences(ticks.calls().stacks(), "ticks"))
      notes.push_back(sentence);
  for (const LeadAndText& sentence : guess_sentences(ticks.calls().frames(), true))
    notes.push_back(sentence);
  for (const LeadAndText& sentence : end_sentences(summary)) notes.push_back(sentence);
  return notes;
}

}  // namespace

Json html_summary(const Summary& summary, const PathsByTime& ticks) {
  const Subject subject(summary);
  const std::string lost = lost_text(summary);
  Json not_seen_words = Json::array();
  for (const std::string& words : not_seen(summary.file.info))
    not_seen_words.push_back(printable(words));
  return {{"schema", "pitrace-html"},
          {"schema_version", html_schema_version},
          {"program", pi::cli::version_text("post")},
          {"subject", subject.is_system() ? "" : printable(subject.name())},
          {"complete", lost.empty()},
          {"lost", printable(lost.empty() ? nothing_lost_text(summary) : lost)},
          {"not_seen", std::move(not_seen_words)},
          {"facts", pairs(facts(summary, subject))},
          {"notes", pairs(notes(summary, ticks))},
          {"tick_count", summary.ticks.ticks},
          {"tick_ns", tick_distance(summary)},
          {"event", summary.event_based() ? printable(event_name(summary)) : ""},
          {"event_period", summary.event_based() ? events_per_tick(summary) : 0},
          {"stacks", ticks.calls().stacks().with() != 0}};
}

}  // namespace post
