// SPDX-License-Identifier: MIT
// Opens files that the target's user has written: no open blocks, and the opened file is the one
// that was checked.
#ifndef PI_ATTACH_OWNED_FILE_H
#define PI_ATTACH_OWNED_FILE_H

#include <sys/stat.h>
#include <sys/types.h>

#include <cstdint>
#include <string>

#include <pi/result.h>
#include <pi/unique_fd.h>

namespace pi::attach {

// "a FIFO", "a symbolic link" ...
const char* kind_of(mode_t mode);

struct OwnedFile {
  UniqueFd fd;
  uint64_t size = 0;
};

// Opens for reading a regular file in the directory that has this owner and one name only. ENOENT
// when it does not exist, else EPERM and a message with the reason.
Result<OwnedFile> open_owned(int directory, const std::string& name, uid_t owner);

}  // namespace pi::attach

#endif  // PI_ATTACH_OWNED_FILE_H
