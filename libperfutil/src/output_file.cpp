// SPDX-License-Identifier: MIT
// A file that appears under its name in one step, mode 0600, never through a link.
#include "output_file.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <vector>

#include <fmt/format.h>

#include "perfutil.h"
#include "text.h"

namespace pi::perfutil {
namespace {

Error file_error(const std::string& name, int error) {
  return {PU_ERROR_FILE, fmt::format("'{}' cannot be written: {}.", name, errno_text(error))};
}

// The error that forbids to replace what has that name now; nothing when it may be.
Status check_target(int directory, const std::string& target, const std::string& name) {
  struct stat facts {};
  if (::fstatat(directory, target.c_str(), &facts, AT_SYMLINK_NOFOLLOW) != 0) {
    if (errno == ENOENT) return {};
    return file_error(name, errno);
  }
  if (S_ISREG(facts.st_mode)) return {};
  return Error{PU_ERROR_FILE,
               fmt::format("'{}' is {}; a trace is only written to a regular file. Name another "
                           "one or remove it.",
                           name,
                           S_ISLNK(facts.st_mode)   ? "a symbolic link"
                           : S_ISDIR(facts.st_mode) ? "a directory"
                                                    : "not a regular file")};
}

}  // namespace

Result<OutputFile> OutputFile::create(const std::string& name) {
  const size_t slash = name.rfind('/');
  const std::string folder = slash == std::string::npos ? "." : name.substr(0, slash + 1);
  const std::string target = slash == std::string::npos ? name : name.substr(slash + 1);
  if (target.empty() || target == "." || target == "..")
    return Error{PU_ERROR_FILE, fmt::format("'{}' is not the name of a file.", name)};
  UniqueFd directory(::open(folder.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (!directory) return file_error(name, errno);
  if (const auto good = check_target(directory.get(), target, name); !good) return good.error();

  constexpr int attempts = 100;
  for (int attempt = 0; attempt < attempts; ++attempt) {
    // The target's own name is left out: it may be as long as names can be.
    const std::string temporary = fmt::format(".pitrace-{}-{}.tmp", ::getpid(), attempt);
    UniqueFd fd(::openat(directory.get(), temporary.c_str(),
                         O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
    if (!fd && errno == EEXIST) continue;
    if (!fd) return file_error(name, errno);
    (void)::fchmod(fd.get(), 0600);  // whatever the umask took away
    return OutputFile(std::move(directory), std::move(fd), target, temporary);
  }
  return Error{PU_ERROR_FILE,
               fmt::format("'{}' cannot be written: too many left-over files '.pitrace-*.tmp' "
                           "beside it; remove them.",
                           name)};
}

OutputFile::~OutputFile() {
  if (directory_ && !temporary_.empty()) ::unlinkat(directory_.get(), temporary_.c_str(), 0);
}

int OutputFile::append(std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    // Linux writes at most 2 GB at a time.
    const ssize_t done = ::write(fd_.get(), bytes.data(), std::min(bytes.size(), size_t{1} << 30));
    if (done < 0 && errno == EINTR) continue;
    if (done < 0) return errno;
    if (done == 0) return ENOSPC;
    size_ += static_cast<uint64_t>(done);
    bytes = bytes.subspan(static_cast<size_t>(done));
  }
  return 0;
}

int OutputFile::overwrite(uint64_t offset, std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t done =
        ::pwrite(fd_.get(), bytes.data(), bytes.size(), static_cast<off_t>(offset));
    if (done < 0 && errno == EINTR) continue;
    if (done < 0) return errno;
    if (done == 0) return ENOSPC;
    offset += static_cast<uint64_t>(done);
    bytes = bytes.subspan(static_cast<size_t>(done));
  }
  return 0;
}

int OutputFile::append_file(int fd) {
  std::vector<std::byte> block(1 << 20);
  off_t at = 0;
  for (;;) {
    const ssize_t got = ::pread(fd, block.data(), block.size(), at);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return errno;
    if (got == 0) return 0;
    if (const int error = append(std::span(block).first(static_cast<size_t>(got))); error != 0)
      return error;
    at += got;
  }
}

int OutputFile::publish(bool keep_old) {
  if (temporary_.empty()) return 0;
  const std::string old = target_ + ".old";
  if (keep_old &&
      ::renameat(directory_.get(), target_.c_str(), directory_.get(), old.c_str()) != 0 &&
      errno != ENOENT)
    return errno;
  if (::renameat(directory_.get(), temporary_.c_str(), directory_.get(), target_.c_str()) != 0)
    return errno;
  temporary_.clear();
  return 0;
}

int OutputFile::sync() const {
  return ::fdatasync(fd_.get()) != 0 ? errno : 0;
}

int OutputFile::truncate(uint64_t size) {
  if (::ftruncate(fd_.get(), static_cast<off_t>(size)) != 0) return errno;
  if (::lseek(fd_.get(), static_cast<off_t>(size), SEEK_SET) < 0) return errno;
  size_ = size;
  return 0;
}

int OutputFile::commit() {
  // Network file systems tell of a full disk only here.
  if (::close(fd_.release()) != 0 && errno != EINTR) return errno;
  if (temporary_.empty()) return 0;
  if (::renameat(directory_.get(), temporary_.c_str(), directory_.get(), target_.c_str()) != 0)
    return errno;
  temporary_.clear();
  return 0;
}

}  // namespace pi::perfutil
