// SPDX-License-Identifier: MIT
// Opens and reads files whose names come from a trace: only regular files, without blocking.
#ifndef A2N_SAFE_FILE_H
#define A2N_SAFE_FILE_H

#include <cstdint>
#include <optional>
#include <string>

#include "pi/budget.h"
#include "pi/files.h"
#include "pi/result.h"
#include "pi/unique_fd.h"

namespace a2n {

struct RegularFile {
  pi::UniqueFd fd;
  uint64_t size = 0;  // 0 for files of /proc
};

// Opens a regular file for reading. The error's code is an errno (EINVAL: not a regular file); its
// message starts with the path.
pi::Result<RegularFile> open_regular(const std::string& path,
                                     pi::Links links = pi::Links::followed);

// The same for a file in a directory where another user may create one: it must not be a symbolic
// link, must belong to root, to the user who runs this program, or to owner (a user id), and no
// other user may write to it. Else EPERM.
pi::Result<RegularFile> open_trusted(const std::string& path, std::optional<uint32_t> owner,
                                     pi::Links links = pi::Links::refused);

// The size of the open file fd. EFBIG if it exceeds the budget for the bytes allocated on disk.
// name: the file's name in messages.
pi::Result<uint64_t> size_within(int fd, const std::string& name, const pi::Budget& budget);

// At most limit bytes of a file from offset on; EFBIG for a sparse file that exceeds its budget.
pi::Result<std::string> read_text(const std::string& path, uint64_t offset, uint64_t limit);

}  // namespace a2n

#endif  // A2N_SAFE_FILE_H
