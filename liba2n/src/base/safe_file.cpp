// SPDX-License-Identifier: MIT
// Opens and reads files whose names come from a trace: only regular files, without blocking.
#include "safe_file.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "budgets.h"
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

pi::Result<RegularFile> open_regular(const std::string& path, pi::Links links) {
  return sized(path, pi::open_regular(path, links));
}

pi::Result<RegularFile> open_trusted(const std::string& path, std::optional<uint32_t> owner,
                                     pi::Links links) {
  return sized(path, pi::open_trusted(path, owner, links));
}

pi::Result<uint64_t> size_within(int fd, const std::string& name, const pi::Budget& budget) {
  struct stat status {};
  if (::fstat(fd, &status) != 0) return pi::Error{errno, name + ": " + std::strerror(errno)};
  const auto size = static_cast<uint64_t>(std::max<off_t>(status.st_size, 0));
  const uint64_t stored = pi::real_size(fd, status);
  if (size <= budget.of(stored)) return size;
  return pi::Error{EFBIG, name + ": it has " + std::to_string(size) + " bytes, of which " +
                              std::to_string(stored) + " are stored; more than " +
                              std::to_string(budget.of(stored)) + " are not read; not used"};
}

pi::Result<std::string> read_text(const std::string& path, uint64_t offset, uint64_t limit) {
  auto file = open_regular(path);
  if (!file) return file.error();
  if (const auto size = size_within(file->fd.get(), path, budgets::text_file); !size)
    return size.error();
  if (offset > INT64_MAX || ::lseek(file->fd.get(), static_cast<off_t>(offset), SEEK_SET) < 0)
    return pi::Error{EINVAL, path + ": the offset is beyond any file's end"};
  auto text = pi::read_whole(file->fd.get(), limit);
  if (!text) return named(path, text.error());
  return text;
}

}  // namespace a2n
