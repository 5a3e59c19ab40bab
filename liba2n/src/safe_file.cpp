// SPDX-License-Identifier: MIT
// Opening and reading files whose names come from a trace: regular files only, never waiting.
#include "safe_file.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace a2n {
namespace {

pi::Error file_error(const std::string& path, int code) {
  return {code, path + ": " + std::strerror(code)};
}

}  // namespace

pi::Result<RegularFile> open_regular(const std::string& path) {
  // Looked at before it is opened, because opening a device or a pipe already has effects.
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0) return file_error(path, errno);
  if (!S_ISREG(status.st_mode)) return pi::Error{EINVAL, path + ": not a regular file"};
  RegularFile file;
  file.fd = pi::UniqueFd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  if (!file.fd) return file_error(path, errno);
  if (::fstat(file.fd.get(), &status) != 0) return file_error(path, errno);
  if (!S_ISREG(status.st_mode)) return pi::Error{EINVAL, path + ": not a regular file"};
  file.size = static_cast<uint64_t>(status.st_size);
  return file;
}

pi::Result<std::string> read_text(const std::string& path, uint64_t offset, uint64_t limit) {
  auto file = open_regular(path);
  if (!file) return file.error();
  if (offset > INT64_MAX) return pi::Error{EINVAL, path + ": the offset is beyond any file's end"};
  std::string text;
  uint64_t length = 0;
  while (length < limit) {
    const uint64_t chunk = std::min<uint64_t>(limit - length, 1u << 20);
    if (text.size() < length + chunk) text.resize(std::max(length + chunk, 2 * text.size()));
    const ssize_t got =
        ::pread(file->fd.get(), text.data() + length, chunk, static_cast<off_t>(offset + length));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return file_error(path, errno);
    if (got == 0) break;
    length += static_cast<uint64_t>(got);
  }
  text.resize(length);
  return text;
}

}  // namespace a2n
