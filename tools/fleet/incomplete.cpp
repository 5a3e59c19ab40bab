// SPDX-License-Identifier: MIT
// Finds tables that were copied in part.
#include "incomplete.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <pi/printable.h>
#include <pi/unique_fd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <vector>

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

}  // namespace

std::string hint_on_incomplete(const Question& question) {
  const Dates dates = dates_of(question.period);
  std::vector<std::string> found;
  for (const char* table : {"records", "paths", "stacks", "frames", "days"}) {
    std::error_code problem;
    fs::recursive_directory_iterator at(fmt::format("{}/{}", question.folder, table), problem);
    for (; !problem && at != fs::recursive_directory_iterator(); at.increment(problem)) {
      const std::string name = at->path().filename().string();
      constexpr std::string_view day = "date=";
      if (at.depth() == 0 && name.starts_with(day) && !dates.have(name.substr(day.size())))
        at.disable_recursion_pending();
      if (name.ends_with(".parquet") && !is_complete(at->path().string()))
        found.push_back(at->path().string());
    }
  }
  if (found.empty()) return {};
  return fmt::format(
      "{} {} not complete, as after a copy that was ended early: {}{}. Copy {} again, or give {} a "
      "name that does not end in .parquet.",
      found.size(), found.size() == 1 ? "file is" : "files are", pi::printable(found.front()),
      found.size() == 1 ? "" : ", ...", found.size() == 1 ? "it" : "them",
      found.size() == 1 ? "it" : "them");
}

}  // namespace fleet
