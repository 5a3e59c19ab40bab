// SPDX-License-Identifier: MIT
// Finds and reads the source files that debug information names.
#include "source_files.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/stat.h>
#include <text_file.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>

#include "budgets.h"
#include "text/text.h"

namespace post {

SourceText::SourceText(std::string path, std::string text, int64_t modified_ns)
    : path_(std::move(path)), text_(std::move(text)), modified_ns_(modified_ns) {
  for (size_t at = 0; at < text_.size();) {
    starts_.push_back(static_cast<uint32_t>(at));
    const size_t end = text_.find('\n', at);
    at = end == std::string::npos ? text_.size() : end + 1;
  }
}

std::string_view SourceText::line(size_t number) const {
  if (number == 0 || number > starts_.size()) return {};
  const size_t end = number == starts_.size() ? text_.size() : starts_[number];
  std::string_view line(text_);
  line = line.substr(starts_[number - 1], end - starts_[number - 1]);
  if (line.ends_with('\n')) line.remove_suffix(1);
  if (line.ends_with('\r')) line.remove_suffix(1);
  return line;
}

std::vector<std::string> path_tails(std::string_view path) {
  std::vector<std::string_view> parts;
  for (size_t at = 0; at < path.size();) {
    const size_t end = std::min(path.find('/', at), path.size());
    const std::string_view part = path.substr(at, end - at);
    if (part == "..") {
      if (!parts.empty()) parts.pop_back();
    } else if (!part.empty() && part != ".") {
      parts.push_back(part);
    }
    at = end + 1;
  }
  std::vector<std::string> tails;
  for (size_t first = parts.size() - std::min(parts.size(), budgets::source_tails);
       first < parts.size(); ++first)
    tails.push_back(fmt::format(
        "{}", fmt::join(parts.begin() + static_cast<ptrdiff_t>(first), parts.end(), "/")));
  return tails;
}

SourceFiles::SourceFiles(std::vector<std::string> directories)
    : directories_(std::move(directories)) {}

namespace {

// True if there is a regular file. Otherwise refused says why an existing file is not used.
bool is_there(const pi::Result<pi::RegularFile>& file, const std::string& path,
              std::string& refused) {
  if (file) return true;
  if (file.error().code != ENOENT && file.error().code != ENOTDIR)
    refused = fmt::format("{}: {}", printable(path), printable(file.error().message));
  return false;
}

// True if every user may search all directories above the open file: its own mode says less than
// that. The kernel's path of a descriptor has no links.
bool all_may_reach(int fd) {
  std::error_code error;
  const auto path = std::filesystem::read_symlink(fmt::format("/proc/self/fd/{}", fd), error);
  if (error || !path.is_absolute()) return false;
  for (auto directory = path.parent_path();; directory = directory.parent_path()) {
    struct stat status {};
    if (::stat(directory.c_str(), &status) != 0 || (status.st_mode & S_IXOTH) == 0) return false;
    if (directory == directory.root_path()) return true;
  }
}

}  // namespace

// False when there is no file to use. The author of a program chooses the paths in its debug
// information: if that may be another user, the super-user reads only files that every user may
// read.
bool SourceFiles::read(const std::string& path, Program program, Known& known) {
  const auto file = pi::open_regular(path);
  if (!is_there(file, path, known.refused)) return false;
  const bool may_all_read = (file->status.st_mode & S_IROTH) != 0 &&
                            (program == Program::of_root || all_may_reach(file->fd.get()));
  if (::geteuid() == 0 && !may_all_read) {
    known.refused =
        fmt::format("{}: not every user may read it; --source-path with its directory permits it",
                    printable(path));
    return false;
  }
  take(*file, path, known);
  return true;
}

// The user has chosen the directory, the author of a program the tail, and either or another user
// what is below the directory: links must not lead out of it.
bool SourceFiles::read_below(const std::string& directory, const std::string& tail, Known& known) {
  const std::string path = directory + "/" + tail;
  const auto file = pi::open_regular_below(directory, tail);
  if (!is_there(file, path, known.refused)) return false;
  take(*file, path, known);
  return true;
}

void SourceFiles::take(const pi::RegularFile& file, const std::string& path, Known& known) {
  auto text = pi::read_text_file(file.fd.get(), printable(path),
                                 std::min(budgets::source_file, budgets::source_files - bytes_));
  if (!text) {
    known.refused = text.error().message;
    return;
  }
  bytes_ += text->size();
  known.refused.clear();
  known.text = SourceText(path, std::move(*text), pi::identity_of(file.status).modified_ns);
}

const SourceText& SourceFiles::find(const std::string& path, Program program) {
  const auto [place, added] = known_.try_emplace({path, program});
  Known& known = place->second;
  if (!added || path.empty()) return known.text;
  if (path.starts_with('/') && read(path, program, known)) return known.text;
  for (const std::string& tail : path_tails(path))
    for (const std::string& directory : directories_)
      if (read_below(directory, tail, known)) return known.text;
  return known.text;
}

std::string SourceFiles::problem(const std::string& path, Program program) const {
  const auto known = known_.find({path, program});
  if (known == known_.end() || known->second.text.found()) return {};
  std::string sentence = known->second.refused;
  while (sentence.ends_with('.')) sentence.pop_back();
  if (!sentence.empty()) return sentence + ".";
  const std::string places = printable(fmt::format("{}", fmt::join(directories_, ", ")));
  if (path.starts_with('/'))
    return places.empty()
               ? "The file is not there; --source-path=DIR names other directories."
               : fmt::format("The file is not there, nor its path, or an end of it, in {}.",
                             places);
  return places.empty() ? "Its directory is not known; --source-path=DIR names one."
                        : fmt::format("Neither this path nor an end of it is in {}.", places);
}

}  // namespace post
