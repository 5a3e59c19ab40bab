// SPDX-License-Identifier: MIT
// Short sentences on missing data of a trace, for the page and the browser.
#include "page_facts.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "completeness.h"

namespace post {

std::string plural(uint64_t count, std::string_view one, std::string_view many) {
  return fmt::format("{} {}", count, count == 1 ? one : many);
}

std::string nothing_lost_text(const Summary& summary) {
  return summary.losses.counted ? "Nothing lost." : "Nothing lost as far as the file shows.";
}

std::string lost_text(const Summary& summary, bool recording) {
  std::vector<std::string> parts;
  const Losses& losses = summary.losses;
  if (losses.lost() != 0)
    parts.push_back(losses.counted ? fmt::format("{} of {} records were lost ({}).", losses.lost(),
                                                 losses.total.produced, lost_reasons(losses.total))
                                   : fmt::format("{} records were lost.", losses.lost()));
  if (losses.missed != 0)
    parts.push_back(plural(losses.missed, "hit of a hook was", "hits of hooks were") + " missed.");
  if (summary.damage.any())
    parts.push_back(fmt::format("The trace file is damaged in {}.",
                                plural(summary.damage.places(), "place", "places")));
  if (!summary.file.full.empty())
    parts.emplace_back(
        "Recording ended early: a buffer was full (larger: run.tprof -b, swtrace init -s and "
        "-sm).");
  else if (!recording && is_damaged(summary.file, {}))
    parts.emplace_back("Recording ended early.");
  return fmt::format("{}", fmt::join(parts, " "));
}

// The part of a sentence before its colon: the rest is too long for the page.
std::vector<std::string> not_seen(const TraceInfo& info) {
  constexpr std::pair<const char*, const char*> short_words[] = {
      {"Code that runs with interrupts disabled", "interrupts-off code"},
      {"Idle processors", "some idle time"},
      {"Wake-ups and migrations, and what a thread waits for", "wake-ups"}};
  std::vector<std::string> parts;
  for (const std::string& sentence : info.cannot_see) {
    std::string part = sentence.substr(0, sentence.find(':'));
    const auto known =
        std::ranges::find_if(short_words, [&](const auto& words) { return part == words.first; });
    if (known != std::end(short_words)) part = known->second;
    if (part.ends_with('.')) part.pop_back();
    if (!part.empty() && part[0] >= 'A' && part[0] <= 'Z') part[0] += 'a' - 'A';
    parts.push_back(std::move(part));
  }
  return parts;
}

}  // namespace post
