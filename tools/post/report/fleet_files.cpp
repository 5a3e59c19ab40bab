// SPDX-License-Identifier: MIT
// Where --fleet writes the tables of a trace.
#include "fleet_files.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <pi/unique_fd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <utility>

#include "read/merge.h"

namespace post {
namespace {

constexpr size_t longest_name = 255;  // of a folder, on the usual file systems

// Readers take these for no value.
bool means_none(std::string_view value) {
  const auto is_same = [](char a, char b) { return (a | 0x20) == b; };
  return value == "__HIVE_DEFAULT_PARTITION__" ||
         std::ranges::equal(value, std::string_view("null"), is_same);
}

// As Hive writes values into the names of folders, so that readers decode it.
std::string encoded(std::string_view value) {
  std::string name;
  for (const char c : value) {
    const bool none = name.empty() && means_none(value);
    const bool plain = !none && ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                                 (c >= '0' && c <= '9') || c == '.' || c == '-' || c == '_');
    if (plain)
      name += c;
    else
      name += fmt::format("%{:02X}", static_cast<unsigned char>(c));
  }
  return name;
}

pi::Error refused(const std::string& folder, int code, const char* reason) {
  return {code, fmt::format("cannot use the folder {}: {}. Name another one with --fleet.", folder,
                            reason)};
}

// Opens a folder in another one, which is made if it is missing.
pi::Result<pi::UniqueFd> enter(int above, const std::string& name, const std::string& path,
                               int follow) {
  if (::mkdirat(above, name.c_str(), 0777) != 0 && errno != EEXIST)
    return refused(path, errno, std::strerror(errno));
  pi::UniqueFd folder(::openat(above, name.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC | follow));
  struct stat facts {};
  if (!folder || ::fstat(folder.get(), &facts) != 0)
    return refused(path, errno, std::strerror(errno));
  if (facts.st_uid != ::geteuid()) return refused(path, EPERM, "it belongs to another user");
  return folder;
}

pi::Result<std::string> make_folder(const std::string& root, const std::string& below) {
  auto folder = enter(AT_FDCWD, root, root, 0);
  if (!folder) return folder.error();
  std::string path = root;
  for (const auto& part : std::filesystem::path(below)) {
    path += "/" + part.string();
    folder = enter(folder->get(), part.string(), path, O_NOFOLLOW);
    if (!folder) return folder.error();
  }
  return path;
}

}  // namespace

std::string fleet_folder(std::string_view table, uint64_t begin_ns, std::string_view host) {
  using namespace std::chrono;
  const year_month_day date(floor<days>(sys_time<nanoseconds>(nanoseconds(begin_ns))));
  return fmt::format("{}/date={:04}-{:02}-{:02}/host={}", table, static_cast<int>(date.year()),
                     static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()),
                     host.empty() ? "unknown" : encoded(host));
}

pi::Status set_fleet_files(Options& options, ByteSource& source, const TraceFile& file) {
  if (!options.fleet) return {};
  const auto epoch = epoch_of(source, file);
  if (!epoch)
    return pi::Error{-1, "the trace has no time of day, by which --fleet arranges its files."};
  const uint64_t begin = begin_of(source, file) + *epoch;
  std::error_code problem;
  const std::string root = std::filesystem::absolute(*options.fleet, problem);
  if (problem) return refused(*options.fleet, problem.value(), problem.message().c_str());
  StringTable texts;
  const std::string host =
      PrivateNames(texts, options.report.privacy).shown(PrivateKind::host, file.info.host);
  for (const auto& [table, path] :
       {std::pair("records", &options.fleet_records), std::pair("paths", &options.fleet_paths),
        std::pair("stacks", &options.fleet_stacks), std::pair("frames", &options.fleet_frames)}) {
    const std::string below = fleet_folder(table, begin, host);
    if (below.size() - below.rfind('/') > longest_name)
      return pi::Error{-1, "the trace's host has too long a name for a folder (--fleet)."};
    const auto made = make_folder(root, below);
    if (!made) return made.error();
    *path = fmt::format("{}/{}.parquet", *made, begin);
  }
  return {};
}

bool fits_fleet(const RecordTotals& totals) {
  constexpr uint64_t day = 86'400'000'000'000;
  return totals.last_tick - totals.first_tick <= day;
}

}  // namespace post
