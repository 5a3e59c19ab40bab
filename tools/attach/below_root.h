// SPDX-License-Identifier: MIT
// Files of another process, opened below its root directory: no path leads out of it, nothing
// blocks, and what is used is the file that was checked.
#ifndef PI_ATTACH_BELOW_ROOT_H
#define PI_ATTACH_BELOW_ROOT_H

#include <sys/stat.h>
#include <sys/types.h>

#include <cstdint>
#include <string>

#include <pi/result.h>
#include <pi/unique_fd.h>

namespace pi::attach {

// "/proc/self/fd/N": the very file that a descriptor is of.
std::string path_of(int fd);

// An O_PATH descriptor of what the path means to a process with this root; `more` are open flags.
UniqueFd find_below(int root, const std::string& path, int more);

// "a FIFO", "a symbolic link" ...
const char* kind_of(mode_t mode);

struct OwnedFile {
  UniqueFd fd;
  uint64_t size = 0;
};

// For reading: a regular file in the directory, of this owner, with one name. ENOENT when there is
// none by that name, else EPERM and a message that says what it is instead.
Result<OwnedFile> open_owned(int directory, const std::string& name, uid_t owner);

}  // namespace pi::attach

#endif  // PI_ATTACH_BELOW_ROOT_H
