// SPDX-License-Identifier: MIT
// Opens files that the target's user has written: no open blocks, and the opened file is the one
// that was checked.
#include "owned_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include <fmt/format.h>
#include <pi/files.h>

namespace pi::attach {

const char* kind_of(mode_t mode) {
  switch (mode & S_IFMT) {
    case S_IFREG:
      return "a regular file";
    case S_IFDIR:
      return "a directory";
    case S_IFLNK:
      return "a symbolic link";
    case S_IFSOCK:
      return "a socket";
    case S_IFIFO:
      return "a FIFO";
    default:
      return "a device";
  }
}

Result<OwnedFile> open_owned(int directory, const std::string& name, uid_t owner) {
  const UniqueFd found(::openat(directory, name.c_str(), O_PATH | O_NOFOLLOW | O_CLOEXEC));
  struct stat facts {};
  if (!found || ::fstat(found.get(), &facts) != 0)
    return Error{errno, fmt::format("{}: {}", name, std::strerror(errno))};
  if (!S_ISREG(facts.st_mode))
    return Error{EPERM, fmt::format("{} is {}, not a regular file", name, kind_of(facts.st_mode))};
  if (facts.st_uid != owner)
    return Error{EPERM,
                 fmt::format("{} belongs to user {}, not to user {}", name, facts.st_uid, owner)};
  if (facts.st_nlink != 1)
    return Error{EPERM, fmt::format("{} has more than one name (hard links)", name)};
  OwnedFile file;
  file.fd =
      UniqueFd(::open(path_of(found.get()).c_str(), O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
  if (!file.fd) return Error{EPERM, fmt::format("{}: {}", name, std::strerror(errno))};
  file.size = static_cast<uint64_t>(facts.st_size);
  return file;
}

}  // namespace pi::attach
