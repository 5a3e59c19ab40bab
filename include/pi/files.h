// SPDX-License-Identifier: MIT
// Files by descriptor: opens each once and safely, reads and writes whole files. Part of the static
// library pi_files, which all programs and libraries link.
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

// Identifies a file in its present state: changes when the file is replaced or written to.
struct FileIdentity {
  dev_t device = 0;
  ino_t inode = 0;
  off_t size = 0;
  int64_t modified_ns = 0;
  int64_t changed_ns = 0;
  bool operator==(const FileIdentity&) const = default;
};
FileIdentity identity_of(const struct stat& status);

constexpr int not_regular = -1;  // an Error::code that is not an error number

// Symbolic links in a path: all are followed; the last component must not be one; no component may
// be one.
enum class Links { followed, refused, nowhere };

// Opens a regular file for reading. Other files are never opened: opening a device, a pipe or a
// terminal has side effects, or waits. The open file is the checked one, even if the path is
// replaced meanwhile. A path /proc/PID/root/... is resolved as process PID would resolve the rest:
// its links and ".." lead to files below its root directory only. The error's code is an error
// number or not_regular, its message is only the reason.
Result<RegularFile> open_regular(const std::string& path, Links links = Links::followed);

// The same for a file in a directory where another user may create one: it must not be a link, must
// belong to root, to the user who runs this program, or to owner, and no other user may write to
// it. Else EPERM. links: refused, or nowhere.
Result<RegularFile> open_trusted(const std::string& path, std::optional<uid_t> owner,
                                 Links links = Links::refused);

// "/proc/self/fd/N": exactly the file of a descriptor.
std::string path_of(int fd);

// How find_below() treats an absolute path, "..", and links with such a target: as for a process
// whose root is the directory, or by failing with EXDEV where they lead out of the directory.
enum class Below { its_root, no_way_out };

// Returns an O_PATH descriptor of the path below an open directory; flags are further flags of
// open(). None with errno set if there is no such file, or only through a link of /proc.
UniqueFd find_below(int directory, const std::string& path, Below below, int flags = 0);

// open_regular() for a path below a directory that the user has named but in which another user may
// have placed links: those within the directory are followed, others are refused with EXDEV.
Result<RegularFile> open_regular_below(const std::string& directory, const std::string& path);

// True if an open file with that st_ino is the one whose mapping the kernel reports with inode. On
// overlayfs the upper bits of st_ino may be a layer number (mount option xino): there the lower 32
// bits are compared.
bool has_mapped_inode(int fd, uint64_t st_ino, uint64_t inode);

// ---- reading ----

struct Transferred {
  size_t bytes = 0;
  int error = 0;  // the error number that ended it, or 0
};

// Fills bytes from offset, up to the end of the file.
Transferred read_at(int fd, uint64_t offset, std::span<std::byte> bytes);
// The same from the descriptor's position; waits for a pipe.
Transferred read_on(int fd, std::span<std::byte> bytes);

// Reads the rest of the file from the descriptor's position, at most limit bytes. Also for files of
// /proc, which report no size. The error's code is an error number.
Result<std::string> read_whole(int fd, size_t limit);

// The same for a file of /proc or /sys, or another path at which only root can create files: opens
// any kind of file.
Result<std::string> read_system_file(const std::string& path, size_t limit);

// ---- writing ----

// Return 0 or an error number; after an error, a part may be written.
int write_all(int fd, std::span<const std::byte> bytes);
int write_all_at(int fd, uint64_t offset, std::span<const std::byte> bytes);

}  // namespace pi

#endif  // PI_FILES_H
