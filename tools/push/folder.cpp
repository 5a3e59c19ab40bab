// SPDX-License-Identifier: MIT
// The folder of files that wait to be sent, and files of settings.
#include "folder.h"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <pi/files.h>
#include <pi/printable.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>

#include "store.h"

namespace push {
namespace {

constexpr size_t most_files = 1'000'000;
constexpr size_t most_setting = 1 << 20;
constexpr mode_t others_write = S_IWGRP | S_IWOTH;

pi::Error refused(const std::string& path, const std::string& why) {
  return {-1, fmt::format("cannot use {}: {}.", pi::printable(path), why)};
}

}  // namespace

pi::Result<Folder> Folder::open(const std::string& path, std::string suffix) {
  pi::UniqueFd directory(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  struct stat facts {};
  if (!directory || ::fstat(directory.get(), &facts) != 0)
    return refused(path, std::strerror(errno));
  if (facts.st_uid != ::geteuid()) return refused(path, "it belongs to another user");
  if ((facts.st_mode & others_write) != 0) return refused(path, "other users can write to it");
  if (::flock(directory.get(), LOCK_EX | LOCK_NB) != 0)
    return refused(path, errno == EWOULDBLOCK ? "another pitrace-push is sending its files"
                                              : std::strerror(errno));
  return Folder(std::move(directory), std::move(suffix));
}

pi::Result<std::vector<Folder::File>> Folder::files() const {
  const int copy = ::openat(directory_.get(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  const std::unique_ptr<DIR, int (*)(DIR*)> entries(copy < 0 ? nullptr : ::fdopendir(copy),
                                                    ::closedir);
  if (!entries) return pi::Error{errno, fmt::format("cannot list it: {}", std::strerror(errno))};
  std::vector<File> found;
  while (const dirent* const entry = ::readdir(entries.get())) {
    const std::string name = entry->d_name;
    struct stat facts {};
    if (name.starts_with('.') || !name.ends_with(suffix_) || found.size() >= most_files ||
        ::fstatat(directory_.get(), name.c_str(), &facts, AT_SYMLINK_NOFOLLOW) != 0 ||
        !S_ISREG(facts.st_mode))
      continue;
    found.push_back({name, static_cast<uint64_t>(facts.st_size)});
  }
  std::ranges::sort(found, {}, &File::name);
  return found;
}

pi::Result<std::string> Folder::read(const std::string& name) const {
  const pi::UniqueFd file(
      ::openat(directory_.get(), name.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  struct stat facts {};
  if (!file || ::fstat(file.get(), &facts) != 0) return pi::Error{errno, std::strerror(errno)};
  if (!S_ISREG(facts.st_mode)) return pi::Error{-1, "it is not a regular file"};
  auto bytes = pi::read_whole(file.get(), most_bytes + 1);
  if (bytes && bytes->size() > most_bytes)
    return pi::Error{-1, fmt::format("it has more than {} MB", most_bytes >> 20)};
  return bytes;
}

int Folder::remove(const std::string& name) const {
  return ::unlinkat(directory_.get(), name.c_str(), 0) == 0 || errno == ENOENT ? 0 : errno;
}

size_t count_above(const std::vector<Folder::File>& files, uint64_t limit) {
  uint64_t bytes = 0;
  size_t kept = 0;  // the last ones
  while (kept < files.size() && bytes + files[files.size() - 1 - kept].bytes <= limit)
    bytes += files[files.size() - 1 - kept++].bytes;
  return files.size() - kept;
}

pi::Result<std::string> read_own(const std::string& path, bool secret) {
  const auto file = pi::open_trusted(path, {});
  if (!file)
    return refused(
        path, file.error().code == EPERM ? "another user could change it" : file.error().message);
  if (secret && (file->status.st_mode & (S_IRWXG | S_IRWXO)) != 0)
    return refused(path, "other users may read it; its mode has to be 600 or 400");
  const auto text = pi::read_whole(file->fd.get(), most_setting + 1);
  if (!text) return refused(path, text.error().message);
  if (text->size() > most_setting) return refused(path, "it is too large");
  return *text;
}

pi::Result<std::vector<std::string>> headers_in(const std::string& text) {
  std::vector<std::string> headers;
  size_t number = 0;
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find('\n', at), text.size());
    std::string line = text.substr(at, end - at);
    at = end + 1;
    ++number;
    if (line.ends_with('\r')) line.pop_back();
    if (line.empty() || line.front() == '#') continue;
    const size_t colon = line.find(':');
    const auto name_only = [](char c) {
      return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
             c == '-' || c == '_';
    };
    const auto shown = [](char c) { return (c >= ' ' && c <= '~') || c == '\t'; };
    // The line itself may be secret.
    if (colon == line.npos || colon == 0 ||
        !std::all_of(line.begin(), line.begin() + static_cast<ptrdiff_t>(colon), name_only) ||
        !std::ranges::all_of(line, shown) || headers.size() >= 50)
      return pi::Error{-1, fmt::format("line {} of --headers is no header: NAME: VALUE.", number)};
    headers.push_back(std::move(line));
  }
  return headers;
}

}  // namespace push
