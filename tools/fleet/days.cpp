// SPDX-License-Identifier: MIT
// Sums by day: which are there and still true, and how they are written.
#include "days.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <pi/files.h>
#include <pi/new_file.h>
#include <pi/printable.h>
#include <pi/unique_fd.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <map>
#include <set>
#include <span>
#include <vector>

#include "overlaps.h"
#include "schemas.h"
#include "selection.h"
#include "sql_files.h"
#include "tables.h"

namespace fleet {
namespace {

namespace fs = std::filesystem;

constexpr const char* day_table = "days";
constexpr const char* day_file = "day.parquet";
constexpr std::string_view day_schema = "days 1.";

// Names and sizes of files.
using Files = std::set<std::string>;

// Without the sizes: a trace can have been added again.
std::set<std::string> names_of(const Files& files) {
  std::set<std::string> names;
  for (const std::string& file : files) names.insert(file.substr(0, file.rfind(' ')));
  return names;
}

// A host's folder of a day.
struct HostDay {
  std::string date;       // "2026-11-27"
  Files records;          // which tables of traces it has
  Files days;             // of which tables the sums by day are; empty: there are none
  bool overlaps = false;  // of these tables, two had the same time
  bool foreign = false;   // there are sums, but of another version
  // Tables that have been removed since still count.
  bool true_sums() const { return !days.empty() && std::ranges::includes(days, records); }
  // Tables have been removed since: only the sums have their ticks.
  bool has_removed() const { return !std::ranges::includes(names_of(records), names_of(days)); }
  // Some tables have been removed since, and others have come: neither sums nor tables have all.
  bool mixed() const { return !records.empty() && !true_sums() && has_removed(); }
};
using HostDays = std::map<std::string, HostDay>;  // by "date=.../host=..."

pi::Error cannot(const std::string& path, const char* verb, int code) {
  return {code, fmt::format("cannot {} {}: {}.", verb, pi::printable(path), std::strerror(code))};
}

// Calls back for each folder of a table whose name begins so.
pi::Status each_folder(const std::string& path, std::string_view begin,
                       const std::function<pi::Status(const std::string&)>& take) {
  std::error_code problem;
  fs::directory_iterator at(path, problem);
  for (; !problem && at != fs::directory_iterator(); at.increment(problem)) {
    const std::string name = at->path().filename().string();
    if (!name.starts_with(begin) || !at->is_directory(problem)) continue;
    if (const pi::Status status = take(name); !status) return status;
  }
  return problem ? pi::Status(cannot(path, "read", problem.value())) : pi::Status();
}

}  // namespace

std::string all_tables(const std::string& folder) {
  return folder + "/records/*/*/*.parquet";
}

pi::Status each_date(const std::string& table, const Dates& dates,
                     const std::function<pi::Status(const std::string&)>& take) {
  constexpr std::string_view begin = "date=";
  return each_folder(table, begin, [&](const std::string& day) {
    return dates.have(day.substr(begin.size())) ? take(day) : pi::Status();
  });
}

pi::Status each_day(const std::string& table, const Dates& dates,
                    const std::function<pi::Status(const std::string&, const std::string&)>& take) {
  return each_date(table, dates, [&](const std::string& day) {
    return each_folder(table + "/" + day, "host=", [&](const std::string& host) {
      return take(day + "/" + host, day.substr(day.find('=') + 1));
    });
  });
}

namespace {

// Which tables are in a folder. A trace that is added again has another size.
pi::Result<Files> content_of(const std::string& path) {
  Files files;
  std::error_code problem;
  fs::directory_iterator at(path, problem);
  for (; !problem && at != fs::directory_iterator(); at.increment(problem)) {
    const std::string name = at->path().filename().string();
    if (!name.ends_with(".parquet")) continue;
    const uintmax_t size = at->file_size(problem);
    if (!problem) files.insert(fmt::format("{} {}", name, size));
  }
  if (problem) return cannot(path, "read", problem.value());
  return files;
}

// The same as text of a table's metadata. No name has a slash.
std::string text_of(const Files& files) {
  return fmt::format("{}/", fmt::join(files, "/"));
}

Files files_of(std::string_view text) {
  Files files;
  for (size_t end = 0; (end = text.find('/')) != text.npos; text.remove_prefix(end + 1))
    files.emplace(text.substr(0, end));
  return files;
}

std::string path_of(const std::string& folder, const char* table, const std::string& host_day) {
  return fmt::format("{}/{}/{}", folder, table, host_day);
}

// Sets of which tables the sums by day are.
pi::Status read_sums(Engine& engine, const std::string& folder, HostDays& all) {
  std::map<std::string, HostDay*> files;
  std::string list;
  for (auto& [name, day] : all) {
    const std::string file = path_of(folder, day_table, name) + "/" + day_file;
    std::error_code problem;
    if (!fs::is_regular_file(file, problem)) continue;
    list += (list.empty() ? "" : ", ") + literal(file);
    files.emplace(file, &day);
  }
  if (files.empty()) return {};
  std::set<std::string> known;
  const pi::Status status = engine.each(
      fmt::format(
          "SELECT file_name, TRY(decode(key)), TRY(decode(value)) FROM parquet_kv_metadata([{}])",
          list),
      [&](const Row& row) {
        const auto at = files.find(text(row[0]));
        if (at == files.end()) return pi::Status();
        if (text(row[1]) == "pitrace.of") at->second->days = files_of(text(row[2]));
        if (text(row[1]) == "pitrace.overlaps") at->second->overlaps = text(row[2]) == "true";
        if (text(row[1]) == "pitrace.schema" && text(row[2]).starts_with(day_schema))
          known.insert(at->first);
        return pi::Status();
      });
  if (!status) return status;
  for (const auto& [file, day] : files)
    if (!known.contains(file)) {
      day->days.clear();
      day->foreign = true;
    }
  return {};
}

pi::Result<HostDays> host_days(Engine& engine, const std::string& folder, const Dates& dates) {
  HostDays all;
  const std::string records = folder + "/records", days = fmt::format("{}/{}", folder, day_table);
  std::error_code problem;
  if (fs::exists(records, problem)) {
    const pi::Status status =
        each_day(records, dates, [&](const std::string& name, const std::string& date) {
          auto content = content_of(records + "/" + name);
          if (!content) return pi::Status(content.error());
          if (!content->empty()) all[name] = {date, std::move(*content), {}};
          return pi::Status();
        });
    if (!status) return status.error();
  }
  if (!fs::exists(days, problem)) return all;
  const pi::Status status =
      each_day(days, dates, [&](const std::string& name, const std::string& date) {
        all[name].date = date;
        return pi::Status();
      });
  if (!status) return status.error();
  if (const pi::Status read = read_sums(engine, folder, all); !read) return read.error();
  return all;
}

bool has_wildcard(const HostDays& all) {
  return std::ranges::any_of(all, [](const auto& day) { return !fits_pattern(day.first); });
}

std::string today() {
  Period now;
  now.until = std::time(nullptr);
  return dates_of(now).last;
}

// Opens a host's folder of sums. Folders are made below one that exists; a link in place of one is
// refused.
pi::Result<pi::UniqueFd> open_folder(const std::string& folder, const std::string& host_day) {
  constexpr int flags = O_RDONLY | O_DIRECTORY | O_CLOEXEC;
  pi::UniqueFd at(::open(folder.c_str(), flags));
  if (!at) return cannot(folder, "use", errno);
  std::string path = folder;
  for (const auto& part : fs::path(day_table) / host_day) {
    path += "/" + part.string();
    if (::mkdirat(at.get(), part.c_str(), 0777) != 0 && errno != EEXIST)
      return cannot(path, "make", errno);
    at = pi::UniqueFd(::openat(at.get(), part.c_str(), flags | O_NOFOLLOW));
    if (!at) return cannot(path, "use", errno);
  }
  return at;
}

// Copies a file of DuckDB into a folder. DuckDB follows links, so that in a folder of another user
// it could be made to write elsewhere.
pi::Status copy_sums(const std::string& from, int folder, const std::string& path) {
  const pi::UniqueFd source(::open(from.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
  if (!source) return cannot(from, "read", errno);
  auto file = pi::NewFile::create_in(folder, day_file, ".day-", 0666, pi::Umask::applied);
  if (!file) return cannot(path, "write", file.error().code);
  std::vector<std::byte> block(1 << 20);
  for (uint64_t at = 0;;) {
    const auto got = pi::read_at(source.get(), at, block);
    if (got.error != 0) return cannot(from, "read", got.error);
    if (got.bytes == 0) break;
    const auto bytes = std::span(block).first(got.bytes);
    if (const int error = pi::write_all(file->fd(), bytes); error != 0)
      return cannot(path, "write", error);
    at += got.bytes;
  }
  const int error = file->commit();
  return error == 0 ? pi::Status() : pi::Status(cannot(path, "write", error));
}

// The file has its name when it is complete and on the disk.
pi::Status write_sums(Engine& engine, const std::string& folder, const std::string& name,
                      const Files& content, std::set<std::string>& overlaps) {
  const auto place = open_folder(folder, name);
  if (!place) return place.error();
  if (engine.scratch().empty())
    return pi::Error{-1, "cannot make a private folder in TMPDIR, or /tmp."};
  const std::string unfinished = engine.scratch() + "/" + day_file;
  const std::string files = literal(path_of(folder, "records", name) + "/*.parquet");
  const auto negative = engine.query(
      fmt::format("SELECT CAST(COUNT(*) AS BIGINT) FROM read_parquet({}) WHERE count < 0", files));
  if (!negative) return negative.error();
  if (!negative->empty() && whole(negative->front()[0]) != 0)
    return pi::Error{Engine::failed, fmt::format("a table of {} has a negative number of ticks.",
                                                 pi::printable(name))};
  const auto overlapping = hosts_with_overlaps(engine, files);
  if (!overlapping) return overlapping.error();
  if (!overlapping->empty()) overlaps.merge(std::set<std::string>(*overlapping));
  const auto rows =
      engine.query(sql(Query::compact, {{"files", files},
                                        {"to", literal(unfinished)},
                                        {"of", literal(text_of(content))},
                                        {"overlaps", overlapping->empty() ? "false" : "true"}}));
  const std::string path = path_of(folder, day_table, name) + "/" + day_file;
  const pi::Status status = rows ? copy_sums(unfinished, place->get(), path) : rows.error();
  std::error_code ignored;
  fs::remove(unfinished, ignored);
  return status;
}

}  // namespace

std::string mixed_warning(size_t days) {
  return fmt::format(
      "of {} days of hosts tables were removed after their sums were written, and others came: the "
      "sums are kept, without the latter. To count the tables that are there instead, remove the "
      "hosts' folders in days.",
      days);
}

bool days_suffice(const Question& question) {
  const auto whole_day = [](int64_t time) {
    return time == Period::open_begin || time == Period::open_end || time % seconds_of_day == 0;
  };
  for (const int64_t time : {question.period.since, question.period.until, question.at})
    if (!whole_day(time)) return false;
  if (question.paths || question.by == "thread" || question.by == "cgroup") return false;
  for (const auto* words : {&question.where, &question.a, &question.b})
    for (const std::string& key : keys_of(*words))
      if (key == "thread" || key == "cgroup" || key == "build") return false;
  return true;
}

pi::Result<Sources> sources_of(Engine& engine, const Question& question) {
  Sources sources;
  std::error_code problem;
  const std::string all = all_tables(question.folder);
  if (!fs::exists(fmt::format("{}/{}", question.folder, day_table), problem)) {
    sources.records.push_back(all);
    return sources;
  }
  const auto days = host_days(engine, question.folder, dates_of(question.period));
  if (!days) return days.error();
  if (has_wildcard(*days)) {
    sources.records.push_back(all);
    for (const auto& [name, day] : *days) {
      sources.missing += day.records.empty();
      sources.removed += !day.records.empty() && day.has_removed();
    }
    return sources;
  }
  const bool suffice = days_suffice(question);
  for (const auto& [name, day] : *days) {
    sources.mixed += suffice && day.mixed();
    sources.removed += !suffice && !day.records.empty() && day.has_removed();
    if (suffice && (day.true_sums() || day.mixed())) {
      sources.days.push_back(path_of(question.folder, day_table, name) + "/" + day_file);
      if (day.overlaps) sources.overlapping.insert(name.substr(name.find('=', name.find('/')) + 1));
    } else if (!day.records.empty()) {
      sources.records.push_back(path_of(question.folder, "records", name) + "/*.parquet");
      if (suffice && !day.days.empty()) ++sources.stale;
    } else if (!day.days.empty() || day.foreign) {
      ++sources.missing;
    }
  }
  return sources;
}

pi::Result<Answer> compact(Engine& engine, const std::string& folder) {
  if (const pi::Status status = check_folder(folder); !status) return status.error();
  // One at a time. The lock ends with this program.
  const pi::UniqueFd lock(
      ::open((folder + "/records").c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!lock || ::flock(lock.get(), LOCK_EX | LOCK_NB) != 0)
    return errno == EWOULDBLOCK
               ? pi::Error{EWOULDBLOCK, "another pitrace-fleet compact is at work in this folder."}
               : cannot(folder + "/records", "lock", errno);
  const auto days = host_days(engine, folder, {});
  if (!days) return days.error();
  if (has_wildcard(*days))
    return pi::Error{-1,
                     "the name of a folder of a host has a control character, or one that is a "
                     "wildcard for DuckDB: post does not write such names."};
  const std::string now = today();
  size_t written = 0, kept = 0, open = 0, mixed = 0;
  std::set<std::string> overlaps;
  std::vector<std::string> warnings;
  for (const auto& [name, day] : *days) {
    if (day.records.empty()) continue;
    if (day.date >= now) {
      ++open;
    } else if (day.true_sums()) {
      ++kept;
    } else if (day.mixed()) {
      ++mixed;
    } else {
      const std::string files = literal(path_of(folder, "records", name) + "/*.parquet");
      if (const pi::Status status = check_tables(engine, files, warnings); !status)
        return status.error();
      if (const pi::Status status = write_sums(engine, folder, name, day.records, overlaps);
          !status)
        return status.error();
      ++written;
    }
  }
  Answer answer{
      fmt::format(" Written  : {} days of hosts\n Kept     : {}, whose traces have not changed\n "
                  "Not over : {}\n",
                  written, kept, open),
      std::move(warnings)};
  if (mixed != 0) answer.warnings.push_back(mixed_warning(mixed));
  if (!overlaps.empty()) answer.warnings.push_back(overlap_warning(overlaps));
  return answer;
}

}  // namespace fleet
