// SPDX-License-Identifier: MIT
// A new directory below the target's /tmp, where the JVM, which has the same user, writes its logs.
#include "log_dir.h"

#include <fcntl.h>
#include <sys/random.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include <fmt/format.h>
#include <pi/files.h>
#include <pi/jit_log.h>
#include <pi/uninterrupted.h>

namespace pi::attach {
namespace {

std::string random_name() {
  uint64_t number = 0;
  (void)uninterrupted([&] { return ::getrandom(&number, sizeof number, 0); });
  return fmt::format("pitrace.{:016x}", number);
}

Error failure(const std::string& what, int error = errno) {
  return {1, fmt::format("{}: {}", what, std::strerror(error))};
}

}  // namespace

Result<LogDir> LogDir::make(int tmp, uid_t owner) {
  LogDir made;
  made.tmp_ = tmp;
  made.name_ = random_name();
  if (::mkdirat(tmp, made.name_.c_str(), 0700) != 0)
    return failure("cannot create a directory in the process's /tmp");
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
  std::byte part[64 << 10];
  for (uint64_t at = 0;;) {
    const auto got = read_at(file, at, part);
    if (got.error != 0) return failure("cannot read the agent", got.error);
    if (got.bytes == 0) return {};
    if (const int error = write_all(copy.get(), std::span(part).first(got.bytes)); error != 0)
      return failure(path() + "/" + name, error);
    at += got.bytes;
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
