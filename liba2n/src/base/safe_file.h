// SPDX-License-Identifier: MIT
// Opening and reading files whose names come from a trace: regular files only, never waiting.
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

// Opens for reading what is a regular file. The error's code is an errno; its message starts with
// the path.
pi::Result<RegularFile> open_regular(const std::string& path,
                                     pi::Links links = pi::Links::followed);

// The same for a file at a place where anybody may put one: no symbolic link in the last component,
// and written by somebody who may say what a process does, the super-user, who runs this program,
// or owner (a user id); nobody else may write to it. Else EPERM.
pi::Result<RegularFile> open_trusted(const std::string& path, std::optional<uint32_t> owner);

// The size of the file that is open at fd, unless it is more than the budget has for the bytes that
// are stored: then EFBIG. name: what the message calls it.
pi::Result<uint64_t> size_within(int fd, const std::string& name, const pi::Budget& budget);

// Bytes of a file from offset on, limit at most; EFBIG for a sparse file that is past its budget.
pi::Result<std::string> read_text(const std::string& path, uint64_t offset, uint64_t limit);

}  // namespace a2n

#endif  // A2N_SAFE_FILE_H
