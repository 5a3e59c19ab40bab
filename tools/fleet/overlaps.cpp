// SPDX-License-Identifier: MIT
// Finds hosts of which two traces are of the same time.
#include "overlaps.h"

#include <fmt/format.h>
#include <pi/printable.h>

#include <charconv>
#include <filesystem>

#include "selection.h"
#include "sql_files.h"

namespace fleet {
namespace {

namespace fs = std::filesystem;

// "a/b" of "a%2Fb".
std::string decoded(std::string_view name) {
  std::string out;
  for (size_t i = 0; i < name.size(); ++i) {
    unsigned value = 0;
    const char* const begin = name.data() + i + 1;
    if (name[i] == '%' && i + 2 < name.size() &&
        std::from_chars(begin, begin + 2, value, 16).ptr == begin + 2) {
      out += static_cast<char>(value);
      i += 2;
    } else {
      out += name[i];
    }
  }
  return out;
}

bool has_several_tables(const std::string& path) {
  std::error_code problem;
  size_t count = 0;
  fs::directory_iterator at(path, problem);
  for (; !problem && at != fs::directory_iterator() && count < 2; at.increment(problem))
    if (at->path().filename().string().ends_with(".parquet")) ++count;
  return count == 2;
}

}  // namespace

pi::Result<std::set<std::string>> hosts_with_overlaps(Engine& engine, const std::string& files) {
  const auto rows = engine.query(sql(Query::overlaps, {{"files", files}}));
  if (!rows) return rows.error();
  std::set<std::string> hosts;
  for (const Row& row : *rows) hosts.insert(text(row[0]));
  return hosts;
}

std::set<std::string> overlaps_of(Engine& engine, const Question& question,
                                  const Sources& sources) {
  std::set<std::string> found = sources.overlapping;
  const std::string table = question.folder + "/records";
  const std::set<std::string> read(sources.records.begin(), sources.records.end());
  const bool reads_all = read.contains(all_tables(question.folder));
  std::string patterns;
  const auto take = [&](const std::string& host_day, const std::string&) {
    const std::string host = host_day.substr(host_day.find('=', host_day.find('/')) + 1);
    const std::string place = table + "/" + host_day;
    const std::string pattern = place + "/*.parquet";
    if ((reads_all || read.contains(pattern)) && leaves_host(question.where, decoded(host)) &&
        has_several_tables(place))
      patterns += (patterns.empty() ? "" : ", ") + literal(pattern);
    return pi::Status();
  };
  if (read.empty() || !each_day(table, dates_of(question.period), take) || patterns.empty())
    return found;
  if (const auto hosts = hosts_with_overlaps(engine, "[" + patterns + "]"))
    found.insert(hosts->begin(), hosts->end());
  return found;
}

std::string overlap_warning(const std::set<std::string>& hosts) {
  constexpr size_t shown = 3;
  std::string names;
  size_t count = 0;
  for (const std::string& host : hosts)
    if (++count <= shown) names += (names.empty() ? "" : ", ") + pi::printable(host);
  if (hosts.size() > shown) names += fmt::format(" and {} more", hosts.size() - shown);
  return fmt::format(
      "{} {} traces of the same time, which are added up: do two machines have that name? (A "
      "clock that was set back, and a table copied under another name, look the same.)",
      names, hosts.size() == 1 ? "has" : "have");
}

}  // namespace fleet
