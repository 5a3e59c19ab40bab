// SPDX-License-Identifier: MIT
// Files, by descriptor: opened once and safely, read and written as a whole. In the static library
// pi_files, which all programs and libraries share.
#ifndef PI_FILES_H
#define PI_FILES_H

#include <sys/stat.h>
#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include <pi/result.h>
#include <pi/unique_fd.h>

namespace pi {

inline std::span<const std::byte> text_bytes(std::string_view text) {
  return std::as_bytes(std::span(text));
}

// ---- opening ----

struct RegularFile {
  UniqueFd fd;
  struct stat status {};
};

// Which file it is, as it is now: another one after it was replaced or written to.
struct FileIdentity {
  dev_t device = 0;
  ino_t inode = 0;
  off_t size = 0;
  int64_t modified_ns = 0;
  int64_t changed_ns = 0;
  bool operator==(const FileIdentity&) const = default;
};
FileIdentity identity_of(const struct stat& status);

constexpr int not_regular = -1;  // Error::code beside error numbers

enum class Links { followed, refused };  // a symbolic link as the path's last component

// Opens for reading what is a regular file. Nothing else is ever opened, not even for a moment:
// opening a device, a pipe or a terminal has effects, or waits. What was examined is what is open,
// wherever the path leads by now. The error's code is an error number or not_regular, its message
// the reason alone.
Result<RegularFile> open_regular(const std::string& path, Links links = Links::followed);

// The same for a file at a place where another user may put one: no link, and it belongs to the
// super-user, to who runs this program, or to owner; nobody else may write to it. Else EPERM.
Result<RegularFile> open_trusted(const std::string& path, std::optional<uid_t> owner);

// Whether an open file, with that st_ino, is the one whose mapping the kernel reports with inode.
// On overlayfs the upper bits of st_ino may be the number of a layer (mount option xino): there the
// lower 32 bits are compared.
bool has_mapped_inode(int fd, uint64_t st_ino, uint64_t inode);

// ---- reading ----

struct Transferred {
  size_t bytes = 0;
  int error = 0;  // an error number: what ended it
};

// Fills bytes from offset on, or as far as the file goes.
Transferred read_at(int fd, uint64_t offset, std::span<std::byte> bytes);
// The same from where the descriptor stands; a pipe is waited for.
Transferred read_on(int fd, std::span<std::byte> bytes);

// What there is from where the descriptor stands, limit bytes at most. For files of /proc, which
// have no size, too. The error's code is an error number.
Result<std::string> read_whole(int fd, size_t limit);

// The same of a file of /proc or /sys, or another one that only root can put at its path: this
// opens whatever is there.
Result<std::string> read_system_file(const std::string& path, size_t limit);

// ---- writing ----

// 0, or an error number; then part of it may be written.
int write_all(int fd, std::span<const std::byte> bytes);
int write_all_at(int fd, uint64_t offset, std::span<const std::byte> bytes);

}  // namespace pi

#endif  // PI_FILES_H
