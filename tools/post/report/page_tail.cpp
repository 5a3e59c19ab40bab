// SPDX-License-Identifier: MIT
// The page's lines below the functions: the rest of the system, losses, the files, the next
// command.
#include "page_tail.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <sstream>

#include "analysis/waiting.h"
#include "page_facts.h"
#include "page_rows.h"
#include "path_rows.h"
#include "text/columns.h"
#include "text/labels.h"
#include "text/short_name.h"
#include "text/text.h"

namespace post {
namespace {

// The 95 % error of a share p of n ticks is 1.96 * sqrt(p * (1 - p) / n); its maximum is at p =
// 0.5.
std::string few_ticks_text(const Summary& summary, const PageFormat& format, uint64_t ticks) {
  const double points = std::ceil(98 / std::sqrt(static_cast<double>(ticks)));
  const char* what_helps = summary.event_based()
                               ? "A longer run, or a tick for fewer events (run.tprof -c), helps."
                               : "A longer run, or more ticks (run.tprof -c), helps.";
  return fmt::format("Only {}: shares are right to about {}{:.0f} points. {}",
                     plural(ticks, "tick", "ticks"), format.plus_minus(), points, what_helps);
}

// The other processes with the most ticks, as many as fit into the line.
std::string rest_text(const Summary& summary, const PageFormat& format, const Subject& subject,
                      const PageTicks& counted) {
  const uint64_t all = summary.ticks.ticks;
  const std::string of_what = is_selection(summary)   ? "of the selected ticks"
                              : summary.event_based() ? "of all " + format.event(summary)
                                                      : "of all processor time";
  // An idle processor may have fewer ticks than its time.
  const bool throttled = summary.file.info.throttled != 0;
  const std::string idle =
      fmt::format("{}{}", throttled ? "at least " : "", share_word(counted.idle, all));
  if (subject.is_system()) return fmt::format("Idle: {} {}.", idle, of_what);
  const std::string rest = share_word(all - counted.idle - counted.of_subject, all);
  const std::string lead =
      fmt::format("Rest of the system: {}{}", throttled ? "at most " : "", rest);
  std::string shares;
  for (const auto& [ticks, name] : page_processes(summary, subject, false)) {
    const std::string more = fmt::format("{}{} {}", shares.empty() ? "" : ", ", format.shown(name),
                                         share_word(ticks, all));
    if (percent(ticks, all) < 0.05 ||
        columns_of(lead + of_what + shares + more + idle) + 12 > format.width())
      break;
    shares += more;
  }
  return fmt::format("{} {}{}; idle {}.", lead, of_what, shares.empty() ? "" : " (" + shares + ")",
                     idle);
}

// The text; words that are wider than a line are shortened.
std::string with_short_words(const PageFormat& format, const std::string& text) {
  std::istringstream words(text);
  std::vector<std::string> parts;
  for (std::string word; words >> word;)
    parts.push_back(shortened(word, format.width() > 12 ? format.width() - 2 : 10, format.mark()));
  return fmt::format("{}", fmt::join(parts, " "));
}

std::string not_seen_text(const Summary& summary, const PageFormat& format) {
  std::vector<std::string> parts;
  for (const std::string& part : not_seen(summary.file.info))
    parts.push_back(
        shortened(format.shown(part), std::max<size_t>(format.width(), 10), format.mark()));
  if (parts.empty()) return {};
  return fmt::format(" Not seen: {}{}.", fmt::join(parts, ", "),
                     summary.ticks.ticks == 0 ? "" : " (see tprof.out)");
}

// A suggested next command, in one line of any length, so that it can be copied.
std::vector<std::string> next_lines(const Summary& summary, const PageFormat& format,
                                    const Subject& subject, const PageEnd& end) {
  const auto* calls = summary.find<CallTree>();
  const auto* waiting = summary.find<Waiting>();
  const bool waits_shown = std::ranges::any_of(
      end.files, [](const std::string& file) { return file.ends_with("tprof.offcpu"); });
  const bool waits = waiting && waiting->times().dispatches() != 0 && !waits_shown;
  const bool shown = calls && calls->stacks().with() != 0;
  const bool of_perf = summary.file.info.is_of_perf_record();
  const char* const callers = shown ? ""
                              : summary.file.info.stacks.empty()
                                  ? of_perf ? "perf record --call-graph dwarf has callers; "
                                            : "run.tprof -g shows callers; "
                              : of_perf ? "post --tree shows callers; "
                                        : "run.tprof -p -g shows callers; ";
  std::vector<std::string> lines = format.paragraph(
      fmt::format("Next: {}{}", callers,
                  waits ? "for waits, in tprof.offcpu:" : "to browse, down to instructions:"));
  lines.push_back("  " + (waits ? next_command(end, "-offcpu")
                                : top_command(end, subject.is_system() ? std::optional<uint32_t>()
                                                                       : subject.pid())));
  return lines;
}

}  // namespace

std::vector<std::string> page_tail(const Summary& summary, const PageFormat& format,
                                   const Subject& subject, const PageTicks& ticks,
                                   const PageEnd* end, const std::string& hint) {
  std::vector<std::string> tail;
  const auto add = [&](const std::vector<std::string>& lines) {
    tail.insert(tail.end(), lines.begin(), lines.end());
  };
  // With a tick for each event nothing is estimated.
  const bool sampled = !summary.event_based() || events_per_tick(summary) != 1;
  if (sampled && ticks.of_subject != 0 && ticks.of_subject < enough_ticks)
    add(format.paragraph(few_ticks_text(summary, format, ticks.of_subject)));
  // A selection by name may contain ticks of the subject only.
  if (summary.file.info.has_all_processes() && summary.ticks.ticks != 0 &&
      (!summary.options.selection.by_name() || summary.ticks.ticks != ticks.of_subject))
    add(format.paragraph(rest_text(summary, format, subject, ticks)));
  if (!hint.empty())
    add(format.paragraph("Hint: " + with_short_words(format, format.shown(hint)), "33"));
  const std::string lost = lost_text(summary);
  add(format.paragraph(
      (lost.empty() ? nothing_lost_text(summary) : lost) + not_seen_text(summary, format),
      lost.empty() ? nullptr : "33"));
  if (!end) return tail;
  add(format.paragraph(files_text(*end)));
  if (ticks.of_subject != 0) add(next_lines(summary, format, subject, *end));
  return tail;
}

}  // namespace post
