// SPDX-License-Identifier: MIT
// A regular file as a ByteSource.
#include "file_source.h"

#include <fmt/format.h>
#include <pi/files.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "budgets.h"

namespace post {
namespace {

pi::Error irregular(const std::string& path) {
  return {EINVAL, fmt::format("{} is not a regular file; name a trace file with -r.", path)};
}

}  // namespace

pi::Result<std::unique_ptr<FileSource>> FileSource::open(const std::string& path) {
  auto file = pi::open_regular(path);
  if (!file && file.error().code == pi::not_regular) return irregular(path);
  if (!file) {
    const int reason = file.error().code;
    const char* hint = reason == ENOENT
                           ? " Record one with run.tprof or swtrace, or name it with -r."
                       : reason == EACCES ? " Trace files belong to the user who recorded them."
                                          : "";
    return pi::Error{reason, fmt::format("cannot open the trace file {}: {}.{}", path,
                                         file.error().message, hint)};
  }
  return from_fd(std::move(file->fd), path);
}

pi::Result<std::unique_ptr<FileSource>> FileSource::from_fd(pi::UniqueFd fd,
                                                            const std::string& path) {
  struct stat status {};
  if (::fstat(fd.get(), &status) != 0)
    return pi::Error{errno, fmt::format("cannot examine {}: {}.", path, std::strerror(errno))};
  if (!S_ISREG(status.st_mode)) return irregular(path);
  const auto size = static_cast<uint64_t>(status.st_size);
  const uint64_t stored = pi::real_size(fd.get(), status);
  if (size > budgets::trace_file.of(stored))
    return pi::Error{EFBIG, fmt::format("{} has {} bytes, of which {} are stored: it has holes, so "
                                        "it is not a trace file; it is not read.",
                                        path, size, stored)};
  return std::unique_ptr<FileSource>(new FileSource(std::move(fd), size));
}

size_t FileSource::read(uint64_t offset, std::span<std::byte> out) {
  const auto got = pi::read_at(fd_.get(), offset, out);
  if (got.error != 0) error_ = std::strerror(got.error);
  return got.bytes;
}

}  // namespace post
