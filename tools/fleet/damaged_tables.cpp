// SPDX-License-Identifier: MIT
// Finds tables that were copied in part, or that DuckDB cannot read.
#include "damaged_tables.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <pi/printable.h>
#include <pi/unique_fd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <iterator>
#include <vector>

#include "tables.h"

namespace fleet {
namespace {

namespace fs = std::filesystem;

// Each such file begins and ends with the same four bytes.
bool is_complete(const std::string& path) {
  constexpr char magic[] = {'P', 'A', 'R', '1'};
  constexpr off_t least = 12;
  const pi::UniqueFd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  struct stat facts {};
  if (!file || ::fstat(file.get(), &facts) != 0 || !S_ISREG(facts.st_mode)) return false;
  char first[sizeof magic] = {}, last[sizeof magic] = {};
  return facts.st_size >= least && ::pread(file.get(), first, sizeof first, 0) == sizeof first &&
         ::pread(file.get(), last, sizeof last, facts.st_size - sizeof last) == sizeof last &&
         std::memcmp(first, magic, sizeof magic) == 0 &&
         std::memcmp(last, magic, sizeof magic) == 0;
}

// The tables of the days of a question, and the names.
std::vector<std::string> tables_of(const Question& question) {
  const Dates dates = dates_of(question.period);
  std::vector<std::string> tables;
  for (const char* table : {"records", "paths", "stacks", "frames", "days"}) {
    std::error_code problem;
    fs::recursive_directory_iterator at(fmt::format("{}/{}", question.folder, table), problem);
    for (; !problem && at != fs::recursive_directory_iterator(); at.increment(problem)) {
      const std::string name = at->path().filename().string();
      constexpr std::string_view day = "date=";
      if (at.depth() == 0 && name.starts_with(day) && !dates.have(name.substr(day.size())))
        at.disable_recursion_pending();
      if (name.ends_with(".parquet")) tables.push_back(at->path().string());
    }
  }
  std::error_code ignored;
  if (fs::exists(names_file(question.folder), ignored))
    tables.push_back(names_file(question.folder));
  return tables;
}

std::string hint_on_incomplete(const std::vector<std::string>& tables) {
  std::vector<std::string> found;
  for (const std::string& table : tables)
    if (!is_complete(table)) found.push_back(table);
  if (found.empty()) return {};
  return fmt::format(
      "{} {} not complete, as after a copy that was ended early: {}{}. Copy {} again, or give {} a "
      "name that does not end in .parquet.",
      found.size(), found.size() == 1 ? "file is" : "files are", pi::printable(found.front()),
      found.size() == 1 ? "" : ", ...", found.size() == 1 ? "it" : "them",
      found.size() == 1 ? "it" : "them");
}

// DuckDB does not take the folders' values from such a path.
std::string hint_on_names(const std::vector<std::string>& tables) {
  const auto found = std::ranges::find_if(tables, [](const std::string& path) {
    return std::ranges::any_of(path, [](char c) { return static_cast<unsigned char>(c) < ' '; });
  });
  if (found == tables.end()) return {};
  return fmt::format(
      "the name of {} has a control character, which post --fleet does not write: rename it.",
      pi::printable(*found));
}

// What must be in a table, by the folder that it is in.
struct Kind {
  std::string_view folder;
  const char* columns;
  bool counts;
};
constexpr Kind kinds[] = {
    {"/records/",
     "time, trace, kernel, kind, process, thread, cgroup, service, module, build_id, function, "
     "address, mode, count, amount, count * period, unit",
     true},
    {"/paths/", "time, trace, kernel, kind, process, thread, cgroup, service, stack, count", true},
    {"/stacks/", "trace, stack, up, frame", false},
    {"/frames/", "trace, frame, module, build_id, function, address, mode, guessed", false},
    {"/days/",
     "time, kernel, kind, process, service, module, build_id, function, address, mode, count, "
     "amount, unit, first, last",
     true},
    {"/names.parquet", "build_id, address, function", false}};

// Why a table cannot be read; "" if it can. All values are needed, not only statistics.
std::string reason_of(Engine& engine, const std::string& table) {
  const auto* const kind = std::ranges::find_if(
      kinds, [&](const Kind& of) { return table.rfind(of.folder) != table.npos; });
  if (kind == std::end(kinds)) return {};
  const auto rows = engine.query(fmt::format(
      "SELECT CAST(BIT_XOR(HASH({})) IS NULL AS BIGINT), CAST({} AS BIGINT) FROM "
      "read_parquet({})",
      kind->columns, kind->counts ? "COUNT(CASE WHEN count < 0 THEN 1 END)" : "0", literal(table)));
  if (!rows) return rows.error().message.substr(0, rows.error().message.find('\n'));
  return !rows->empty() && whole(rows->front()[1]) != 0 ? "a number of ticks is negative" : "";
}

// The engine does not say which file it could not read.
std::string hint_on_unreadable(Engine& engine, const std::vector<std::string>& tables) {
  for (const std::string& table : tables)
    if (const std::string reason = reason_of(engine, table); !reason.empty())
      return fmt::format(
          "a file is damaged: {} ({}). Copy it again, or give it a name that does not end in "
          ".parquet.",
          pi::printable(table), reason);
  return {};
}

}  // namespace

std::string hint_on_damage(Engine& engine, const Question& question, const pi::Error& problem) {
  if (problem.message.find("Out of Memory") != problem.message.npos)
    return "DuckDB needs more memory: give a larger --memory, or ask about a shorter time.";
  const std::vector<std::string> tables = tables_of(question);
  std::string hint = hint_on_names(tables);
  if (hint.empty()) hint = hint_on_incomplete(tables);
  if (hint.empty() && problem.code == Engine::failed) hint = hint_on_unreadable(engine, tables);
  return hint;
}

}  // namespace fleet
