// SPDX-License-Identifier: MIT
// Opens files of another process below its root directory: no path leads out of that directory, no
// open blocks, and the opened file is the one that was checked.
#include "owned_file.h"

#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include <fmt/format.h>

namespace pi::attach {

std::string path_of(int fd) {
  return fmt::format("/proc/self/fd/{}", fd);
}

UniqueFd find_below(int root, const std::string& path, int more) {
  open_how how{};
  how.flags = static_cast<uint64_t>(O_PATH | O_CLOEXEC | more);
  how.resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS;
  // EAGAIN: directories were renamed meanwhile. The limit is for a process that never stops
  // renaming.
  constexpr int tries = 16;
  long fd = -1;
  for (int i = 0; i < tries; ++i) {
    fd = ::syscall(SYS_openat2, root, path.c_str(), &how, sizeof how);
    if (fd >= 0 || errno != EAGAIN) break;
  }
  return UniqueFd(static_cast<int>(fd));
}

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
