// SPDX-License-Identifier: MIT
// Parses the file that describes additional reports (-x).
#include "extra_reports.h"

#include <fmt/format.h>

#include "text/text.h"
#include "text_file.h"

namespace post {
namespace {

// There are 325 ways to order some of five levels; more reports than this are of no use.
constexpr size_t max_extra_reports = 100;

constexpr const char* titles[levels] = {"Process", "Thread", "Module", "Symbol", "Offset"};

// Parses a line; returns an error message, or "".
std::string take_levels(std::string_view digits, ReportKind& kind) {
  for (const char digit : digits) {
    if (digit < '1' || digit > '5')
      return fmt::format("a report is written as digits from 1 to 5, not as '{}'",
                         printable(digits));
    const size_t level = static_cast<size_t>(digit - '1');
    for (const Level before : kind.levels)
      if (before == static_cast<Level>(level))
        return fmt::format("the level {} occurs twice", digit);
    if (static_cast<Level>(level) == Level::offset &&
        (kind.levels.size() < 2 || kind.levels.back() != Level::symbol ||
         kind.levels[kind.levels.size() - 2] != Level::module))
      return "offsets (5) are those of a symbol in a module: they follow 34";
    kind.levels.push_back(static_cast<Level>(level));
    kind.title += (kind.title.empty() ? "" : "_") + std::string(titles[level]);
  }
  return {};
}

}  // namespace

pi::Result<std::vector<ReportKind>> parse_extra_reports(std::string_view text,
                                                        const std::string& path) {
  std::vector<ReportKind> kinds;
  for (const pi::TextLine& line : pi::meaningful_lines(text)) {
    ReportKind kind;
    std::string problem = take_levels(line.text, kind);
    if (problem.empty() && kinds.size() == max_extra_reports)
      problem = fmt::format("more than {} reports", max_extra_reports);
    if (!problem.empty())
      return pi::Error{-1, fmt::format("{}:{}: {}.", path, line.number, problem)};
    kinds.push_back(std::move(kind));
  }
  if (kinds.empty())
    return pi::Error{-1, path + ": no report is described here; a line such as 134 describes one."};
  return kinds;
}

}  // namespace post
