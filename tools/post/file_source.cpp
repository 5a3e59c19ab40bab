// SPDX-License-Identifier: MIT
// A regular file as a ByteSource.
#include "file_source.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "budgets.h"

namespace post {

pi::Result<std::unique_ptr<FileSource>> FileSource::open(const std::string& path) {
  // O_NONBLOCK: a FIFO of that name must not hold us up before it is refused.
  pi::UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  if (!fd) {
    const int reason = errno;
    const char* hint = reason == ENOENT
                           ? " Record one with run.tprof or swtrace, or name it with -r."
                       : reason == EACCES ? " Trace files belong to the user who recorded them."
                                          : "";
    return pi::Error{reason, fmt::format("cannot open the trace file {}: {}.{}", path,
                                         std::strerror(reason), hint)};
  }
  return from_fd(std::move(fd), path);
}

pi::Result<std::unique_ptr<FileSource>> FileSource::from_fd(pi::UniqueFd fd,
                                                            const std::string& path) {
  struct stat status {};
  if (::fstat(fd.get(), &status) != 0)
    return pi::Error{errno, fmt::format("cannot examine {}: {}.", path, std::strerror(errno))};
  if (!S_ISREG(status.st_mode))
    return pi::Error{EINVAL,
                     fmt::format("{} is not a regular file; name a trace file with -r.", path)};
  const auto size = static_cast<uint64_t>(status.st_size);
  const uint64_t stored = pi::real_size(fd.get(), status);
  if (size > budgets::trace_file.of(stored))
    return pi::Error{EFBIG, fmt::format("{} has {} bytes, of which {} are stored: it is no trace "
                                        "file but one with holes; it is not read.",
                                        path, size, stored)};
  return std::unique_ptr<FileSource>(new FileSource(std::move(fd), size));
}

size_t FileSource::read(uint64_t offset, std::span<std::byte> out) {
  size_t done = 0;
  while (done < out.size()) {
    const ssize_t count =
        ::pread(fd_.get(), out.data() + done, out.size() - done, static_cast<off_t>(offset + done));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) error_ = std::strerror(errno);
    if (count <= 0) break;
    done += static_cast<size_t>(count);
  }
  return done;
}

}  // namespace post
