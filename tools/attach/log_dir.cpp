// SPDX-License-Identifier: MIT
// A new directory below the target's /tmp, where the JVM, which has the same user, writes its logs.
#include "log_dir.h"

#include <fcntl.h>
#include <sys/random.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include <fmt/format.h>
#include <pi/jit_log.h>

namespace pi::attach {
namespace {

std::string random_name() {
  uint64_t number = 0;
  while (::getrandom(&number, sizeof number, 0) < 0 && errno == EINTR) {
  }
  return fmt::format("pitrace.{:016x}", number);
}

Error failure(const std::string& what) {
  return {1, fmt::format("{}: {}", what, std::strerror(errno))};
}

bool write_all(int fd, const char* bytes, size_t size) {
  while (size > 0) {
    const ssize_t wrote = ::write(fd, bytes, size);
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote <= 0) return false;
    bytes += wrote;
    size -= static_cast<size_t>(wrote);
  }
  return true;
}

}  // namespace

Result<LogDir> LogDir::make(int tmp, uid_t owner) {
  LogDir made;
  made.tmp_ = tmp;
  made.name_ = random_name();
  if (::mkdirat(tmp, made.name_.c_str(), 0700) != 0)
    return failure("cannot make a directory in its /tmp");
  made.fd_ =
      UniqueFd(::openat(tmp, made.name_.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  struct stat facts {};
  if (!made.fd_ || ::fstat(made.fd_.get(), &facts) != 0) {
    const Error error = failure(made.path());
    ::unlinkat(tmp, made.name_.c_str(), AT_REMOVEDIR);
    return error;
  }
  if (facts.st_uid != owner)
    return Error{1, fmt::format("{} was replaced by user {}", made.path(), facts.st_uid)};
  return made;
}

Status LogDir::copy_here(int file, const std::string& name) const {
  const UniqueFd copy(::openat(fd_.get(), name.c_str(),
                               O_CREAT | O_EXCL | O_WRONLY | O_NOFOLLOW | O_CLOEXEC, 0500));
  if (!copy) return failure(path() + "/" + name);
  char part[64 << 10];
  for (off_t at = 0;;) {
    const ssize_t got = ::pread(file, part, sizeof part, at);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return failure("cannot read the agent");
    if (got == 0) return {};
    if (!write_all(copy.get(), part, static_cast<size_t>(got))) return failure(path() + "/" + name);
    at += got;
  }
}

bool LogDir::remove(const std::string& library, pid_t inner_pid) const {
  ::unlinkat(fd_.get(), library.c_str(), 0);
  for (int kind = 0; kind < log_kinds; ++kind)
    ::unlinkat(fd_.get(), log_name(kind, inner_pid).c_str(), 0);
  return ::unlinkat(tmp_, name_.c_str(), AT_REMOVEDIR) == 0;
}

std::string log_name(int kind, pid_t pid) {
  return fmt::format("{}-{}_{}", jit_log::default_prefix,
                     kind == 0 ? jit_log::jita2n_kind : jit_log::jtnm_kind, pid);
}

}  // namespace pi::attach
