// SPDX-License-Identifier: MIT
// Parses a budget: a file of limits on methods, classes and packages. Measures a call flow against
// them.
#include "budget.h"

#include <fmt/format.h>
#include <pi/printable.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>
#include <optional>

#include "text_file.h"

namespace logrt {
namespace {

constexpr std::string_view blanks = " \t";
constexpr std::string_view form =
    "a limit is written as 'class com/shop/Cart base/call 120' or 'method App.run()V calls 10'";

struct OfWord {
  Limit::Of of;
  std::string_view word;
};
constexpr OfWord words[] = {{Limit::Of::calls, "calls"},
                            {Limit::Of::base, "base"},
                            {Limit::Of::base_of_call, "base/call"},
                            {Limit::Of::cumulated, "cum"}};

std::string_view trimmed(std::string_view text) {
  const size_t begin = text.find_first_not_of(blanks);
  if (begin == text.npos) return {};
  return text.substr(begin, text.find_last_not_of(blanks) + 1 - begin);
}

// Removes the last word of the text and returns it.
std::string_view take_last(std::string_view& text) {
  const size_t blank = text.find_last_of(blanks);
  const size_t begin = blank == text.npos ? 0 : blank + 1;
  const std::string_view word = text.substr(begin);
  text = trimmed(text.substr(0, begin));
  return word;
}

std::optional<double> amount_of(std::string_view word) {
  double value = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
  if (error != std::errc{} || end != word.data() + word.size() || !std::isfinite(value) ||
      value < 0)
    return {};
  return value;
}

// Parses a line; returns an error message, or "". Names of C++ methods contain blanks, so the other
// words are taken from both ends.
std::string take_limit(std::string_view line, Limit& limit) {
  const std::string_view amount = take_last(line);
  const std::string_view of = take_last(line);
  const size_t end = line.find_first_of(blanks);
  if (end == line.npos) return std::string(form);
  const auto level = level_named(line.substr(0, end));
  if (!level)
    return fmt::format("'{}' is neither method, class nor package",
                       pi::printable(line.substr(0, end)));
  const auto* known = std::ranges::find(words, of, &OfWord::word);
  if (known == std::end(words))
    return fmt::format("'{}' is none of calls, base, base/call and cum", pi::printable(of));
  const auto value = amount_of(amount);
  if (!value) return fmt::format("'{}' is no number from 0", pi::printable(amount));
  limit.level = *level;
  limit.name = trimmed(line.substr(end));
  limit.of = known->of;
  limit.limit = *value;
  return {};
}

double value_of(const Total& total, Limit::Of of) {
  switch (of) {
    case Limit::Of::calls:
      return static_cast<double>(total.calls);
    case Limit::Of::base_of_call:
      return total.base_of_call();
    case Limit::Of::cumulated:
      return static_cast<double>(total.cumulated);
    case Limit::Of::base:
      break;
  }
  return static_cast<double>(total.base);
}

}  // namespace

std::string_view word_of(Limit::Of of) {
  return words[static_cast<size_t>(of)].word;
}

pi::Result<std::vector<Limit>> parse_budget(std::string_view text, const std::string& path) {
  std::vector<Limit> limits;
  for (const pi::TextLine& line : pi::meaningful_lines(text)) {
    Limit limit;
    limit.line = line.number;
    if (const std::string problem = take_limit(line.text, limit); !problem.empty())
      return pi::Error{-1, fmt::format("{}:{}: {}.", path, line.number, problem)};
    limits.push_back(std::move(limit));
  }
  if (limits.empty()) return pi::Error{-1, fmt::format("{}: there is no limit; {}.", path, form)};
  return limits;
}

pi::Result<std::vector<LimitResult>> measure(const std::vector<Limit>& limits,
                                             const CallFlow& flow) {
  std::map<Level, Totals> totals;
  std::vector<LimitResult> results;
  for (const Limit& limit : limits) {
    if (limit.of != Limit::Of::calls && flow.metric.empty())
      return pi::Error{-1, fmt::format("line {} of the budget limits {}, but {} has no metrics, "
                                       "only calls.",
                                       limit.line, word_of(limit.of), pi::printable(flow.path))};
    if (!totals.contains(limit.level)) {
      auto of_level = total(flow, limit.level);
      if (!of_level) return of_level.error();
      totals[limit.level] = std::move(*of_level);
    }
    LimitResult result{limit, false, 0};
    for (const Total& row : totals[limit.level].rows)
      if (label(row.name, limit.level) == limit.name) {
        result.found = true;
        result.value = value_of(row, limit.of);
      }
    results.push_back(std::move(result));
  }
  return results;
}

}  // namespace logrt
