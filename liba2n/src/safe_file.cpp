// SPDX-License-Identifier: MIT
// Opening and reading files whose names come from a trace: regular files only, never waiting.
#include "safe_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "budgets.h"

namespace a2n {
namespace {

pi::Error file_error(const std::string& path, int code) {
  return {code, path + ": " + std::strerror(code)};
}

}  // namespace

pi::Result<RegularFile> open_regular(const std::string& path) {
  // Looked at before it is opened, because opening a device or a pipe already has effects.
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0) return file_error(path, errno);
  if (!S_ISREG(status.st_mode)) return pi::Error{EINVAL, path + ": not a regular file"};
  RegularFile file;
  file.fd = pi::UniqueFd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  if (!file.fd) return file_error(path, errno);
  if (::fstat(file.fd.get(), &status) != 0) return file_error(path, errno);
  if (!S_ISREG(status.st_mode)) return pi::Error{EINVAL, path + ": not a regular file"};
  file.size = static_cast<uint64_t>(status.st_size);
  return file;
}

pi::Result<RegularFile> open_trusted(const std::string& path, std::optional<uint32_t> owner) {
  struct stat status {};
  if (::lstat(path.c_str(), &status) != 0) return file_error(path, errno);
  if (!S_ISREG(status.st_mode)) return pi::Error{EPERM, path + ": not a regular file; not used"};
  RegularFile file;
  file.fd =
      pi::UniqueFd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY | O_NOFOLLOW));
  if (!file.fd) return file_error(path, errno);
  // What is open now is what counts: the path may have come to mean another file.
  if (::fstat(file.fd.get(), &status) != 0) return file_error(path, errno);
  if (!S_ISREG(status.st_mode)) return pi::Error{EPERM, path + ": not a regular file; not used"};
  if (status.st_uid != 0 && status.st_uid != ::geteuid() && status.st_uid != owner)
    return pi::Error{EPERM, path + ": it belongs to user " + std::to_string(status.st_uid) +
                                ", who is neither the process's owner nor you; not used"};
  // A group of the owner's number is the owner's own, by custom.
  const bool by_group = (status.st_mode & S_IWGRP) != 0 && status.st_gid != status.st_uid;
  if (by_group || (status.st_mode & S_IWOTH) != 0)
    return pi::Error{EPERM, path + ": others than its owner may write to it; not used"};
  file.size = static_cast<uint64_t>(status.st_size);
  return file;
}

pi::Result<uint64_t> size_within(int fd, const std::string& name, const pi::Budget& budget) {
  struct stat status {};
  if (::fstat(fd, &status) != 0) return file_error(name, errno);
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
  if (offset > INT64_MAX) return pi::Error{EINVAL, path + ": the offset is beyond any file's end"};
  std::string text;
  uint64_t length = 0;
  while (length < limit) {
    const uint64_t chunk = std::min<uint64_t>(limit - length, 1u << 20);
    if (text.size() < length + chunk) text.resize(std::max(length + chunk, 2 * text.size()));
    const ssize_t got =
        ::pread(file->fd.get(), text.data() + length, chunk, static_cast<off_t>(offset + length));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return file_error(path, errno);
    if (got == 0) break;
    length += static_cast<uint64_t>(got);
  }
  text.resize(length);
  return text;
}

}  // namespace a2n
