// SPDX-License-Identifier: MIT
// Opening and reading files whose names come from a trace: regular files only, never waiting.
#include "safe_file.h"

#include <unistd.h>

#include <cerrno>
#include <utility>

#include "pi/files.h"

namespace a2n {
namespace {

pi::Error named(const std::string& path, const pi::Error& error) {
  return {error.code == pi::not_regular ? EINVAL : error.code, path + ": " + error.message};
}

pi::Result<RegularFile> sized(const std::string& path, pi::Result<pi::RegularFile> file) {
  if (!file) return named(path, file.error());
  return RegularFile{std::move(file->fd), static_cast<uint64_t>(file->status.st_size)};
}

}  // namespace

pi::Result<RegularFile> open_regular(const std::string& path) {
  return sized(path, pi::open_regular(path));
}

pi::Result<RegularFile> open_trusted(const std::string& path, std::optional<uint32_t> owner) {
  return sized(path, pi::open_trusted(path, owner));
}

pi::Result<std::string> read_text(const std::string& path, uint64_t offset, uint64_t limit) {
  auto file = open_regular(path);
  if (!file) return file.error();
  if (offset > INT64_MAX || ::lseek(file->fd.get(), static_cast<off_t>(offset), SEEK_SET) < 0)
    return pi::Error{EINVAL, path + ": the offset is beyond any file's end"};
  auto text = pi::read_whole(file->fd.get(), limit);
  if (!text) return named(path, text.error());
  return text;
}

}  // namespace a2n
