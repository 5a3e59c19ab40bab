// SPDX-License-Identifier: MIT
// Parses a budget: a file of limits on shares of the ticks. Measures a trace against them.
#include "budget.h"

#include <fmt/format.h>

#include <map>
#include <optional>
#include <tuple>

#include "report/report_rows.h"
#include "text/text.h"
#include "text_file.h"

namespace post {
namespace {

constexpr std::string_view blanks = " \t";
constexpr std::string_view form =
    "a limit is written as 'module libfoo.so 10%', 'symbol foo:libfoo.so 5%' or 'process java 50%'";

std::optional<Level> level_named(std::string_view word) {
  for (const Level level : {Level::process, Level::module, Level::symbol})
    if (word == level_word(level)) return level;
  return {};
}

// "ns::f(int):libfoo.so": the module follows the last colon that is not part of "::".
void take_symbol(std::string_view name, Limit& limit) {
  for (size_t at = name.rfind(':'); at != std::string_view::npos && at != 0;
       at = name.rfind(':', at - 1)) {
    if (name[at - 1] == ':') {
      if (--at == 0) break;
      continue;
    }
    if (at + 1 == name.size()) break;
    limit.module = name.substr(at + 1);
    name = name.substr(0, at);
    break;
  }
  limit.name = name;
}

// Parses a line of the budget; returns an error message, or "".
std::string take_limit(std::string_view line, Limit& limit) {
  // "50%", "50 %" and "50" are the same.
  if (line.ends_with('%')) line.remove_suffix(1);
  line = line.substr(0, line.find_last_not_of(blanks) + 1);
  const size_t kind_end = line.find_first_of(blanks);
  const size_t last_begin = line.find_last_of(blanks);
  if (kind_end == std::string_view::npos) return std::string(form);
  const std::string_view kind = line.substr(0, kind_end);
  const auto level = level_named(kind);
  if (!level) return fmt::format("'{}' is neither process, module nor symbol", printable(kind));
  limit.level = *level;
  const std::string_view amount = line.substr(last_begin + 1);
  const auto percent = percent_from(amount);
  if (!percent)
    return fmt::format(
        "a line ends with a limit from 0% to 100%, such as 50%, 12.5 % or 50, not with '{}'",
        printable(amount));
  limit.percent = *percent;
  std::string_view name = line.substr(kind_end, last_begin - kind_end);
  const size_t name_begin = name.find_first_not_of(blanks);
  if (name_begin == std::string_view::npos) return std::string(form);
  name = name.substr(name_begin, name.find_last_not_of(blanks) + 1 - name_begin);
  if (*level == Level::symbol)
    take_symbol(name, limit);
  else
    limit.name = name;
  return {};
}

std::string_view file_name(std::string_view path) {
  return path.substr(path.rfind('/') + 1);
}

// A word selects a module by its whole path or by its file name.
bool is_module(const std::string& module, const std::string& wanted) {
  return module == wanted || file_name(module) == wanted;
}

bool covers(const Limit& limit, const ProfileRow& row) {
  switch (limit.level) {
    case Level::process:
      return row.process == limit.name;
    case Level::module:
      return is_module(row.module, limit.name);
    default:
      return row.symbol == limit.name &&
             (limit.module.empty() || is_module(row.module, limit.module));
  }
}

}  // namespace

pi::Result<std::vector<Limit>> parse_budget(std::string_view text, const std::string& path) {
  std::vector<Limit> limits;
  std::map<std::tuple<Level, std::string, std::string>, size_t> lines;
  for (const pi::TextLine& line : pi::meaningful_lines(text)) {
    Limit limit;
    limit.line = line.number;
    std::string problem = take_limit(line.text, limit);
    if (problem.empty()) {
      const auto [before, added] =
          lines.try_emplace({limit.level, limit.name, limit.module}, line.number);
      if (!added)
        problem =
            fmt::format("{} has a limit in line {} already", limit_name(limit), before->second);
    }
    if (!problem.empty())
      return pi::Error{-1, fmt::format("{}:{}: {}.", path, line.number, problem)};
    limits.push_back(std::move(limit));
  }
  if (limits.empty()) return pi::Error{-1, fmt::format("{}: there is no limit; {}.", path, form)};
  return limits;
}

std::vector<LimitResult> measure(const std::vector<Limit>& limits, const Profile& profile) {
  std::vector<LimitResult> results;
  for (const Limit& limit : limits) {
    LimitResult result{limit, 0, 0};
    for (const ProfileRow& row : profile.rows)
      if (covers(limit, row)) result.ticks += row.ticks;
    result.percent = percent(result.ticks, profile.ticks);
    results.push_back(std::move(result));
  }
  return results;
}

}  // namespace post
