// SPDX-License-Identifier: MIT
// Parses ranges of seconds and CPUs (--time, --cpus), and describes a selection in sentences.
#include "selection.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "text/text.h"

namespace post {
namespace {

constexpr uint64_t highest_cpu = 65535;
constexpr int64_t second = 1'000'000'000;
constexpr uint64_t max_seconds = 9'000'000'000;
constexpr size_t decimals = 9;

std::string range_text(const char* what, const NumberRange& range) {
  if (range.last == std::numeric_limits<uint64_t>::max())
    return fmt::format("{} from number {} on", what, range.first);
  return fmt::format("{} number {} to {}", what, range.first, range.last);
}

std::string word_of(const std::string& word) {
  return printable(word);
}

std::string word_of(const NumberRange& range) {
  if (range.first == range.last) return std::to_string(range.first);
  if (range.last == NumberRange{}.last) return fmt::format("{}-", range.first);
  return fmt::format("{}-{}", range.first, range.last);
}

std::string seconds(int64_t time) {
  std::string text = fmt::format("{}.{:09}", time / second, time % second);
  text.erase(text.find_last_not_of('0') + 1);
  if (text.back() == '.') text.pop_back();
  return text;
}

std::string word_of(const TimeRange& range) {
  if (range.end == TimeRange::open_end) return fmt::format("from {} on", seconds(range.first));
  if (range.first == TimeRange::open_first) return fmt::format("up to {}", seconds(range.end));
  return fmt::format("{} to {}", seconds(range.first), seconds(range.end));
}

// what: in the plural; more: a further part of the sentence.
template <class T>
void add_texts(std::vector<std::string>& texts, const char* what, const char* more,
               const char* option, const Choice<T>& choice) {
  const auto list = [](const std::vector<T>& parts) {
    std::vector<std::string> words;
    for (const T& part : parts) words.push_back(word_of(part));
    return fmt::format("{}", fmt::join(words, ", "));
  };
  if (!choice.only.empty())
    texts.push_back(fmt::format("{} {}{} (--{}).", what, list(choice.only), more, option));
  if (!choice.without.empty())
    texts.push_back(
        fmt::format("all but {} {}{} (--no-{}).", what, list(choice.without), more, option));
}

// "1.5" as nanoseconds.
std::optional<int64_t> parse_time(std::string_view text) {
  const size_t point = text.find('.');
  const std::string_view whole = text.substr(0, point);
  std::string part(point == std::string_view::npos ? "" : text.substr(point + 1));
  if (part.size() > decimals || (whole.empty() && part.empty())) return {};
  part.resize(decimals, '0');
  uint64_t number = 0;
  uint64_t nanoseconds = 0;
  if (!whole.empty() && !parse_number(whole, number)) return {};
  if (!parse_number(part, nanoseconds) || number > max_seconds) return {};
  return static_cast<int64_t>(number) * second + static_cast<int64_t>(nanoseconds);
}

}  // namespace

const char* option_of(NameKind kind) {
  constexpr const char* options[name_kinds] = {"process", "command", "thread", "module", "symbol"};
  return options[static_cast<size_t>(kind)];
}

bool Selection::follows_threads() const {
  return !of(NameKind::module).any() && !of(NameKind::symbol).any() && !cpus.any() &&
         times.only.size() <= 1 && times.without.empty();
}

bool Selection::by_name() const {
  return std::ranges::any_of(names, [](const auto& choice) { return choice.any(); });
}

bool leaves_all_records(const Selection& selection) {
  return selection.records.all() && selection.ticks.all() && !selection.metric &&
         !selection.cpus.any() && !selection.times.any();
}

std::vector<std::string> selection_texts(const Selection& selection) {
  std::vector<std::string> texts;
  if (!selection.records.all())
    texts.push_back(range_text("ticks among the records", selection.records) +
                    " (-p, -pp); names come from the records before them, too.");
  if (!selection.ticks.all()) texts.push_back(range_text("ticks", selection.ticks) + " (-twin).");
  if (selection.metric)
    texts.push_back(fmt::format("ticks of metric {} (-tpsel).", *selection.metric));
  add_texts(texts, "seconds", ", counted from the trace's first record", "time", selection.times);
  add_texts(texts, "CPUs", "", "cpus", selection.cpus);
  constexpr const char* plural[name_kinds] = {"processes", "commands", "threads", "modules",
                                              "symbols"};
  for (size_t i = 0; i < name_kinds; ++i) {
    const NameKind kind = static_cast<NameKind>(i);
    const char* more = kind == NameKind::command ? " and the processes that descend from them" : "";
    add_texts(texts, plural[i], more, option_of(kind), selection.names[i]);
  }
  return texts;
}

std::optional<TimeRange> parse_seconds(std::string_view text) {
  const size_t dash = text.find('-');
  if (dash == std::string_view::npos || text.size() == 1) return {};  // one end must be there
  const std::string_view first = text.substr(0, dash);
  const std::string_view end = text.substr(dash + 1);
  TimeRange range;
  if (!first.empty()) {
    const auto time = parse_time(first);
    if (!time) return {};
    range.first = *time;
  }
  if (!end.empty()) {
    const auto time = parse_time(end);
    if (!time || *time <= range.first) return {};
    range.end = *time;
  }
  return range;
}

bool parse_cpus(std::string_view text, std::vector<NumberRange>& cpus) {
  for (size_t at = 0; at <= text.size();) {
    const size_t comma = std::min(text.find(',', at), text.size());
    const std::string_view part = text.substr(at, comma - at);
    const size_t dash = part.find('-');
    NumberRange range;
    if (!parse_number(part.substr(0, dash), range.first) || range.first > highest_cpu) return false;
    if (dash == std::string_view::npos) {
      range.last = range.first;
    } else if (dash + 1 < part.size()) {
      if (!parse_number(part.substr(dash + 1), range.last) || range.last > highest_cpu ||
          range.last < range.first)
        return false;
    }
    cpus.push_back(range);
    at = comma + 1;
  }
  return true;
}

}  // namespace post
