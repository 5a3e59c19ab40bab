// SPDX-License-Identifier: MIT
// Turns --since, --until and conditions into SQL.
#ifndef FLEET_SELECTION_H
#define FLEET_SELECTION_H

#include <pi/result.h>

#include <cstdint>
#include <functional>
#include <limits>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace fleet {

// Seconds since the epoch.
struct Period {
  static constexpr int64_t open_begin = std::numeric_limits<int64_t>::min();
  static constexpr int64_t open_end = std::numeric_limits<int64_t>::max();
  int64_t since = open_begin;
  int64_t until = open_end;  // exclusive
};

// "2026-11-24", "2026-11-24 10:30[:00]" (or with T), UTC; "3d", "12h", "30m": that long before now.
pi::Result<int64_t> parse_time(const std::string& text, int64_t now);

// Text in quotation marks of SQL. Control characters are left out: no name in the tables has any.
std::string literal(std::string_view text);

// Whether DuckDB finds files by a pattern that begins with this path: no character has a meaning,
// and literal() keeps all of them.
bool fits_pattern(std::string_view path);

// "KEY=VALUE[,KEY=VALUE...]": alternatives of one key, and all keys at once, as a condition on the
// table all_records; "TRUE" without any. Losses have a host and a
// kernel only, and are selected by these. In a value, * stands for any text.
pi::Result<std::string> condition(const std::vector<std::string>& words);

// The keys of such words.
std::set<std::string, std::less<>> keys_of(const std::vector<std::string>& words);

// Whether such words leave rows of this host.
bool leaves_host(const std::vector<std::string>& words, std::string_view host);

// The condition on time, and the one on the folders of days.
std::string condition(const Period& period);
std::string dates(const Period& period);

// The folders of days that can have rows of a period, "2026-11-24"; empty: no limit. A trace is a
// day long at most, and in the folder of the day on which it begins.
struct Dates {
  std::string first, last;
  bool have(std::string_view date) const { return date >= first && (last.empty() || date <= last); }
};
Dates dates_of(const Period& period);
constexpr int64_t seconds_of_day = 86400;

}  // namespace fleet

#endif  // FLEET_SELECTION_H
