// SPDX-License-Identifier: MIT
// Files by descriptor: opens each once and safely, reads and writes whole files.
#include <pi/files.h>

#include <fcntl.h>
#include <linux/magic.h>
#include <linux/openat2.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <system_error>

namespace pi {
namespace {

constexpr int reading = O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY;
// Linux transfers at most 2 GB at a time.
constexpr size_t max_piece = size_t{1} << 30;

Error failure(int error) {
  return {error, std::generic_category().message(error)};
}

bool is_same(const struct stat& a, const struct stat& b) {
  return a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

// Opens the file that was found. Without /proc only its path can be opened again, which open_again
// does; then compares the open file with the found one.
template <class OpenAgain>
Result<RegularFile> open_found(const UniqueFd& found, OpenAgain open_again) {
  RegularFile file;
  if (!found || ::fstat(found.get(), &file.status) != 0) return failure(errno);
  if (!S_ISREG(file.status.st_mode)) return Error{not_regular, "not a regular file"};
  file.fd = UniqueFd(::open(path_of(found.get()).c_str(), reading));
  if (file.fd) return file;
  if (errno != ENOENT) return failure(errno);
  file.fd = open_again();
  struct stat status {};
  if (!file.fd || ::fstat(file.fd.get(), &status) != 0) return failure(errno);
  if (!is_same(status, file.status)) return failure(ESTALE);
  return file;
}

// transfer: reads or writes a piece, given the number of bytes that are done.
template <class Byte, class Transfer>
Transferred transfer_all(std::span<Byte> bytes, Transfer transfer) {
  Transferred all;
  while (all.bytes < bytes.size()) {
    const auto rest = bytes.subspan(all.bytes);
    const ssize_t count = transfer(rest.data(), std::min(rest.size(), max_piece), all.bytes);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) all.error = errno;
    if (count <= 0) break;
    all.bytes += static_cast<size_t>(count);
  }
  return all;
}

// EAGAIN: directories were renamed meanwhile. The limit is for a process that never stops renaming.
UniqueFd resolve(int directory, const std::string& path, uint64_t rules, int flags) {
  open_how how{};
  how.flags = static_cast<uint64_t>(O_PATH | O_CLOEXEC | flags);
  how.resolve = rules;
  constexpr int tries = 16;
  long fd = -1;
  for (int i = 0; i < tries; ++i) {
    fd = ::syscall(SYS_openat2, directory, path.c_str(), &how, sizeof how);
    if (fd >= 0 || errno != EAGAIN) break;
  }
  return UniqueFd(static_cast<int>(fd));
}

// The length of "/proc/PID/root/" at the beginning of a path; 0 if it begins otherwise.
size_t length_of_process_root(std::string_view path) {
  constexpr std::string_view processes = "/proc/", root = "/root/";
  if (!path.starts_with(processes)) return 0;
  const size_t end = path.find_first_not_of("0123456789", processes.size());
  if (end == path.npos || end == processes.size() || !path.substr(end).starts_with(root)) return 0;
  return end + root.size();
}

UniqueFd find(const std::string& path, Links links) {
  const int flags = links == Links::followed ? 0 : O_NOFOLLOW;
  const uint64_t rules = links == Links::nowhere ? RESOLVE_NO_SYMLINKS : 0;
  if (const size_t length = length_of_process_root(path); length != 0) {
    const UniqueFd root(::open(path.substr(0, length).c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
    if (!root) return {};
    return resolve(root.get(), path.substr(length), rules | RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS,
                   flags);
  }
  if (rules != 0) return resolve(AT_FDCWD, path, rules, flags);
  return UniqueFd(::open(path.c_str(), O_PATH | O_CLOEXEC | flags));
}

int all_or_error(const Transferred& transferred, size_t wanted) {
  if (transferred.error != 0) return transferred.error;
  return transferred.bytes == wanted ? 0 : ENOSPC;
}

}  // namespace

FileIdentity identity_of(const struct stat& status) {
  const auto ns = [](const timespec& time) {
    return int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
  };
  return {status.st_dev, status.st_ino, status.st_size, ns(status.st_mtim), ns(status.st_ctim)};
}

Result<RegularFile> open_regular(const std::string& path, Links links) {
  const int no_link = links == Links::followed ? 0 : O_NOFOLLOW;
  const UniqueFd found = find(path, links);
  return open_found(found, [&] { return UniqueFd(::open(path.c_str(), reading | no_link)); });
}

Result<RegularFile> open_trusted(const std::string& path, std::optional<uid_t> owner, Links links) {
  auto file = open_regular(path, links);
  if (!file && file.error().code == not_regular)
    return Error{EPERM, "not a regular file; not used"};
  if (!file) return file;
  const struct stat& status = file->status;
  if (status.st_uid != 0 && status.st_uid != ::geteuid() && status.st_uid != owner)
    return Error{
        EPERM,
        "it belongs to user " + std::to_string(status.st_uid) + ", not to root, you" +
            (owner ? " or the process's owner" : ", or the owner of a process that still runs") +
            "; not used"};
  // By custom a group with the owner's id contains only the owner.
  const bool by_group = (status.st_mode & S_IWGRP) != 0 && status.st_gid != status.st_uid;
  if (by_group || (status.st_mode & S_IWOTH) != 0)
    return Error{EPERM, "users other than its owner may write to it; not used"};
  return file;
}

std::string path_of(int fd) {
  return "/proc/self/fd/" + std::to_string(fd);
}

UniqueFd find_below(int directory, const std::string& path, Below below, int flags) {
  return resolve(
      directory, path,
      RESOLVE_NO_MAGICLINKS | (below == Below::its_root ? RESOLVE_IN_ROOT : RESOLVE_BENEATH),
      flags);
}

Result<RegularFile> open_regular_below(const std::string& directory, const std::string& path) {
  const UniqueFd top(::open(directory.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (!top) return failure(errno);
  const auto find = [&] { return find_below(top.get(), path, Below::no_way_out); };
  const UniqueFd found = find();
  if (!found && errno == EXDEV) return Error{EXDEV, "a symbolic link leads out of " + directory};
  return open_found(found, find);
}

bool has_mapped_inode(int fd, uint64_t st_ino, uint64_t inode) {
  if (st_ino == inode) return true;
  struct statfs system {};
  return static_cast<uint32_t>(st_ino) == static_cast<uint32_t>(inode) &&
         ::fstatfs(fd, &system) == 0 && system.f_type == OVERLAYFS_SUPER_MAGIC;
}

Transferred read_at(int fd, uint64_t offset, std::span<std::byte> bytes) {
  return transfer_all(bytes, [=](std::byte* to, size_t size, size_t done) -> ssize_t {
    if (offset > INT64_MAX - done) return 0;
    return ::pread(fd, to, size, static_cast<off_t>(offset + done));
  });
}

Transferred read_on(int fd, std::span<std::byte> bytes) {
  return transfer_all(bytes,
                      [=](std::byte* to, size_t size, size_t) { return ::read(fd, to, size); });
}

Result<std::string> read_whole(int fd, size_t limit) {
  constexpr size_t first = 4096;
  std::string text;
  size_t have = 0;
  while (have == text.size() && have < limit) {
    text.resize(std::min(limit, std::max(first, have * 2)));
    const auto got = read_on(fd, std::as_writable_bytes(std::span(text)).subspan(have));
    if (got.error != 0) return failure(got.error);
    have += got.bytes;
  }
  text.resize(have);
  return text;
}

Result<std::string> read_system_file(const std::string& path, size_t limit) {
  const UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY));
  if (!fd) return failure(errno);
  return read_whole(fd.get(), limit);
}

int write_all(int fd, std::span<const std::byte> bytes) {
  return all_or_error(transfer_all(bytes, [=](const std::byte* from, size_t size,
                                              size_t) { return ::write(fd, from, size); }),
                      bytes.size());
}

int write_all_at(int fd, uint64_t offset, std::span<const std::byte> bytes) {
  return all_or_error(transfer_all(bytes,
                                   [=](const std::byte* from, size_t size, size_t done) {
                                     return ::pwrite(fd, from, size,
                                                     static_cast<off_t>(offset + done));
                                   }),
                      bytes.size());
}

}  // namespace pi
