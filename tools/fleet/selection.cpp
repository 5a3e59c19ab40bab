// SPDX-License-Identifier: MIT
// Turns --since, --until and conditions into SQL.
#include "selection.h"

#include <fmt/format.h>
#include <pi/printable.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <map>

namespace fleet {
namespace {

// Reads a number of exactly that many digits, and what follows it.
bool take(std::string_view& text, size_t digits, std::string_view after, int& number) {
  if (text.size() < digits || text.substr(0, digits).find_first_not_of("0123456789") != text.npos)
    return false;
  std::from_chars(text.data(), text.data() + digits, number);
  text.remove_prefix(digits);
  if (!text.starts_with(after)) return false;
  text.remove_prefix(after.size());
  return true;
}

// "3d": seconds; 0 if it is not of that form.
int64_t length_of(std::string_view text) {
  if (text.size() < 2 || text.size() > 6) return 0;
  const int64_t unit = text.back() == 'd'   ? seconds_of_day
                       : text.back() == 'h' ? 3600
                       : text.back() == 'm' ? 60
                                            : 0;
  int64_t count = 0;
  const char* const end = text.data() + text.size() - 1;
  const auto [at, problem] = std::from_chars(text.data(), end, count);
  return problem == std::errc() && at == end && count > 0 ? count * unit : 0;
}

std::string date_of(int64_t seconds) {
  using namespace std::chrono;
  const year_month_day date(floor<days>(sys_seconds(std::chrono::seconds(seconds))));
  return fmt::format("{:04}-{:02}-{:02}", static_cast<int>(date.year()),
                     static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()));
}

// column equals a value, in which * stands for any text.
std::string matches(std::string_view column, std::string_view value) {
  if (value.find('*') == value.npos) return fmt::format("{} = {}", column, literal(value));
  std::string pattern;
  for (const char c : value) {
    if (c == '%' || c == '_' || c == '\\') pattern += '\\';
    pattern += c == '*' ? '%' : c;
  }
  return fmt::format("{} LIKE {} ESCAPE '\\'", column, literal(pattern));
}

// The same for text at hand: of the parts between stars, each where it is found first.
bool is_like(std::string_view text, std::string_view value) {
  size_t star = value.find('*');
  if (star == value.npos) return text == value;
  if (!text.starts_with(value.substr(0, star))) return false;
  text.remove_prefix(star);
  for (size_t next; (next = value.find('*', star + 1)) != value.npos; star = next) {
    const std::string_view part = value.substr(star + 1, next - star - 1);
    const size_t at = text.find(part);
    if (at == text.npos) return false;
    text.remove_prefix(at + part.size());
  }
  return text.ends_with(value.substr(star + 1));
}

// Calls back with the key and the value of each part of the words.
template <class Take>
void each_condition(const std::vector<std::string>& words, const Take& take) {
  for (const std::string& word : words)
    for (std::string_view rest = word; !rest.empty();) {
      const std::string_view part = rest.substr(0, rest.find(','));
      rest.remove_prefix(std::min(part.size() + 1, rest.size()));
      const size_t equals = part.find('=');
      take(part.substr(0, equals), equals == part.npos ? "" : part.substr(equals + 1));
    }
}

const char* const keys = "host, kernel, service, cgroup, process, thread, module, function, build";

std::string test_of(std::string_view key, std::string_view value) {
  // Processes that ran code of a file with that build-id.
  if (key == "build")
    return fmt::format("(trace, process) IN (SELECT (trace, process) FROM all_records WHERE {})",
                       matches("build_id", fmt::format("{}*", value)));
  if (key == "module" && value.find('/') == value.npos)
    return fmt::format("({} OR {})", matches("module", value),
                       matches("module", fmt::format("*/{}", value)));
  for (const char* column :
       {"host", "kernel", "service", "cgroup", "process", "thread", "module", "function"})
    if (key == column) return matches(column, value);
  return {};
}

}  // namespace

pi::Result<int64_t> parse_time(const std::string& given, int64_t now) {
  if (const int64_t length = length_of(given); length != 0) return now - length;
  using namespace std::chrono;
  const pi::Error wrong{-1,
                        fmt::format("'{}' is no time: write 2026-11-24, 2026-11-24 10:30 (UTC), "
                                    "or 3d, 12h, 30m for that long ago.",
                                    pi::printable(given))};
  std::string_view rest = given;
  int year_number = 0, month_number = 0, day_number = 0, hour = 0, minute = 0, second = 0;
  if (!take(rest, 4, "-", year_number) || !take(rest, 2, "-", month_number) ||
      !take(rest, 2, "", day_number))
    return wrong;
  const year_month_day date(year(year_number), month(static_cast<unsigned>(month_number)),
                            std::chrono::day(static_cast<unsigned>(day_number)));
  if (!date.ok()) return wrong;
  if (rest.starts_with(' ') || rest.starts_with('T')) {
    rest.remove_prefix(1);
    if (!take(rest, 2, ":", hour) || !take(rest, 2, "", minute)) return wrong;
    if (rest.starts_with(':')) {
      rest.remove_prefix(1);
      if (!take(rest, 2, "", second)) return wrong;
    }
    if (rest == "Z") rest = {};
  }
  if (!rest.empty() || hour > 23 || minute > 59 || second > 59) return wrong;
  return duration_cast<seconds>(sys_days(date).time_since_epoch()).count() + hour * 3600 +
         minute * 60 + second;
}

std::string literal(std::string_view text) {
  std::string out = "'";
  for (const char c : text) {
    if (static_cast<unsigned char>(c) < ' ') continue;
    out += c;
    if (c == '\'') out += c;
  }
  return out + "'";
}

bool fits_pattern(std::string_view path) {
  return path.find_first_of("*?[]{}\\") == path.npos &&
         std::ranges::none_of(path, [](char c) { return static_cast<unsigned char>(c) < ' '; });
}

pi::Result<std::string> condition(const std::vector<std::string>& words) {
  std::map<std::string, std::string, std::less<>> tests;  // by key
  for (const std::string& word : words)
    for (std::string_view rest = word; !rest.empty();) {
      const std::string_view part = rest.substr(0, rest.find(','));
      rest.remove_prefix(std::min(part.size() + 1, rest.size()));
      const size_t equals = part.find('=');
      const std::string_view key = part.substr(0, equals);
      const std::string test = equals == part.npos || equals + 1 == part.size()
                                   ? ""
                                   : test_of(key, part.substr(equals + 1));
      if (test.empty())
        return pi::Error{
            -1, fmt::format("'{}' is no condition: write KEY=VALUE, where KEY is one of {}.",
                            pi::printable(part), keys)};
      std::string& all = tests[std::string(key)];
      all += (all.empty() ? "" : " OR ") + test;
    }
  std::string all;
  for (const auto& [key, test] : tests) {
    // Losses are a host's.
    const bool of_host = key == "host" || key == "kernel";
    all += fmt::format("{}({}{})", all.empty() ? "" : " AND ", of_host ? "" : "kind = 'lost' OR ",
                       test);
  }
  return all.empty() ? "TRUE" : all;
}

std::string condition(const Period& period) {
  std::string test = "TRUE";
  if (period.since != Period::open_begin)
    test += fmt::format(" AND time >= to_timestamp({})", period.since);
  if (period.until != Period::open_end)
    test += fmt::format(" AND time < to_timestamp({})", period.until);
  return test;
}

Dates dates_of(const Period& period) {
  Dates dates;
  if (period.since != Period::open_begin) dates.first = date_of(period.since - seconds_of_day);
  if (period.until != Period::open_end) dates.last = date_of(period.until);
  return dates;
}

std::string dates(const Period& period) {
  const Dates dates = dates_of(period);
  std::string test = "TRUE";
  if (!dates.first.empty()) test += fmt::format(" AND date >= DATE '{}'", dates.first);
  if (!dates.last.empty()) test += fmt::format(" AND date <= DATE '{}'", dates.last);
  return test;
}

std::set<std::string, std::less<>> keys_of(const std::vector<std::string>& words) {
  std::set<std::string, std::less<>> keys;
  each_condition(words, [&](std::string_view key, std::string_view) { keys.emplace(key); });
  return keys;
}

bool leaves_host(const std::vector<std::string>& words, std::string_view host) {
  bool any = false, found = false;
  each_condition(words, [&](std::string_view key, std::string_view value) {
    if (key != "host") return;
    any = true;
    found = found || is_like(host, value);
  });
  return found || !any;
}

}  // namespace fleet
