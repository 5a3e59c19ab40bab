// SPDX-License-Identifier: MIT
// A log: whole records are appended, so that it stays readable after errors and crashes.
#include "log_file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

#include <pi/above_standard.h>
#include <pi/file_size_signal.h>
#include <pi/files.h>

namespace pi::jprof {
namespace {

std::string advice_for(int error, const char* option) {
  switch (error) {
    case ENOENT:
    case ENOTDIR:
      return std::string("Create the directory, or choose another one with ") + option;
    case EACCES:
    case EPERM:
    case EROFS:
      return std::string("Choose a directory that the user of this process may write to, with ") +
             option;
    default:
      return std::string("Choose another directory with ") + option;
  }
}

Error failure(const std::string& path, int error, LogFile::ChosenBy options) {
  return {error, "'" + path + "' cannot be written: " + std::strerror(error) + ". " +
                     advice_for(error, options.directory)};
}

// On a file system without locks the log is written without one.
bool lock(int fd, int how) {
  return ::flock(fd, how | LOCK_NB) == 0 || errno != EWOULDBLOCK;
}

}  // namespace

// A locked file is being written by another process, which has the same pid in another pid
// namespace.
Status LogFile::move_away(ChosenBy options) const {
  struct stat facts {};
  if (::lstat(path_.c_str(), &facts) != 0) {
    if (errno == ENOENT) return {};
    return failure(path_, errno, options);
  }
  if (!S_ISREG(facts.st_mode))
    return Error{EEXIST, "'" + path_ +
                             "' is not a regular file. Remove it, or choose another name with " +
                             options.name};
  const UniqueFd old(::open(path_.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  if (old && !lock(old.get(), LOCK_SH))
    return Error{
        EBUSY,
        "'" + path_ +
            "' is being written by another process, or by another copy of the library in this one. "
            "Choose another name with " +
            options.name};
  if (::rename(path_.c_str(), (path_ + ".old").c_str()) != 0) return failure(path_, errno, options);
  return {};
}

Result<LogFile::Opened> LogFile::open(const std::string& path, ChosenBy options) {
  struct stat facts {};
  const bool again = path == path_ && ::lstat(path.c_str(), &facts) == 0 &&
                     facts.st_dev == device_ && facts.st_ino == inode_;
  path_ = path;
  close();
  if (!again)
    if (const auto moved = move_away(options); !moved) return moved.error();
  fd_ = above_standard(UniqueFd(
      ::open(path.c_str(),
             O_WRONLY | O_APPEND | O_NOFOLLOW | O_CLOEXEC | (again ? 0 : O_CREAT | O_EXCL), 0644)));
  if (!fd_ || !lock(fd_.get(), LOCK_EX) || ::fstat(fd_.get(), &facts) != 0) {
    const int error = errno;
    fd_.reset();
    return failure(path, error, options);
  }
  device_ = facts.st_dev;
  inode_ = facts.st_ino;
  return again ? Opened::again : Opened::anew;
}

void LogFile::close() {
  whole_.reset();
  fd_.reset();
}

int LogFile::begin_whole() {
  auto created = NewFile::create(path_, ".jprof-", 0644, Umask::applied);
  if (!created) return created.error().code;
  whole_.emplace(std::move(*created));
  return 0;
}

int LogFile::finish() {
  if (!has_its_name()) return EEXIST;
  struct stat facts {};
  const int error = ::fstat(whole_->fd(), &facts) == 0 ? whole_->publish(false) : errno;
  if (error != 0) return error;
  device_ = facts.st_dev;
  inode_ = facts.st_ino;
  close();
  return 0;
}

// Not if another file has taken its place meanwhile.
bool LogFile::has_its_name() const {
  struct stat facts {
  }, named{};
  return ::fstat(fd_.get(), &facts) == 0 && ::lstat(path_.c_str(), &named) == 0 &&
         named.st_dev == facts.st_dev && named.st_ino == facts.st_ino;
}

void LogFile::remove_if_empty() const {
  struct stat facts {};
  if (::fstat(fd_.get(), &facts) == 0 && facts.st_size == 0 && has_its_name())
    ::unlink(path_.c_str());
}

void LogFile::discard() {
  whole_.reset();
  if (::ftruncate(fd_.get(), 0) == 0) remove_if_empty();
}

// Removes the part of a record that a full disk left: it would corrupt the next one.
int LogFile::truncate_to(off_t size, int error) const {
  return ::ftruncate(fd_.get(), size) == 0 ? error : EIO;
}

int LogFile::append(std::string_view text) {
  const NoFileSizeSignal quiet;
  struct stat facts {};
  if (::fstat(fd_.get(), &facts) != 0) return errno;
  if (facts.st_nlink == 0) return ENOENT;
  const int error = write_all(descriptor(), text_bytes(text));
  return error == 0 || whole_ ? error : truncate_to(facts.st_size, error);
}

}  // namespace pi::jprof
