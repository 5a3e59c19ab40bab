// SPDX-License-Identifier: MIT
// A trace file that gets its name in one step, with mode 0600, and never through a link.
#include "output_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <vector>

#include <fmt/format.h>
#include <pi/files.h>

#include "perfutil.h"
#include "system/text.h"

namespace pi::perfutil {
namespace {

Error file_error(const std::string& name, int error) {
  return {PU_ERROR_FILE, fmt::format("'{}' cannot be written: {}.", name, errno_text(error))};
}

// An error when the present file of that name must not be replaced.
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
                           name, S_ISDIR(facts.st_mode) ? "a directory" : "a symbolic link")};
}

}  // namespace

Result<OutputFile> OutputFile::create(const std::string& name) {
  auto file = NewFile::create(name, ".pitrace-", 0600);
  if (!file && file.error().code == EISDIR)
    return Error{PU_ERROR_FILE, fmt::format("'{}' is not the name of a file.", name)};
  if (!file && file.error().code == not_regular)
    return Error{PU_ERROR_FILE, fmt::format("'{}' is not a regular file; a trace is only written "
                                            "to a regular file. Name another one.",
                                            name)};
  if (!file) return file_error(name, file.error().code);
  if (const auto good = check_target(file->directory(), file->target(), name); !good)
    return good.error();
  return OutputFile(std::move(*file));
}

int OutputFile::append(std::span<const std::byte> bytes) {
  const int error = write_all(fd(), bytes);
  if (error == 0) {
    size_ += bytes.size();
    return 0;
  }
  // Also after an error: bytes written before it are in the file.
  const off_t end = ::lseek(fd(), 0, SEEK_CUR);
  if (end < 0) return errno;
  size_ = static_cast<uint64_t>(end);
  return error;
}

int OutputFile::append(std::span<const std::byte> head, std::span<const std::byte> data) {
  iovec parts[] = {{const_cast<std::byte*>(head.data()), head.size()},
                   {const_cast<std::byte*>(data.data()), data.size()}};
  const ssize_t done = ::writev(fd(), parts, 2);
  const size_t written = done < 0 ? 0 : static_cast<size_t>(done);
  size_ += written;
  if (written < head.size())
    if (const int error = append(head.subspan(written)); error != 0) return error;
  return append(data.subspan(written - std::min(written, head.size())));
}

int OutputFile::overwrite(uint64_t offset, std::span<const std::byte> bytes) {
  return write_all_at(fd(), offset, bytes);
}

int OutputFile::append_file(int from) {
  std::vector<std::byte> block(1 << 20);
  for (uint64_t at = 0;;) {
    const auto got = read_at(from, at, block);
    if (got.error != 0) return got.error;
    if (got.bytes == 0) return 0;
    if (const int error = append(std::span(block).first(got.bytes)); error != 0) return error;
    at += got.bytes;
  }
}

int OutputFile::sync() const {
  return ::fdatasync(fd()) != 0 ? errno : 0;
}

int OutputFile::truncate(uint64_t size) {
  if (::ftruncate(fd(), static_cast<off_t>(size)) != 0) return errno;
  if (::lseek(fd(), static_cast<off_t>(size), SEEK_SET) < 0) return errno;
  size_ = size;
  return 0;
}

}  // namespace pi::perfutil
