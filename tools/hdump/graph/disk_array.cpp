// SPDX-License-Identifier: MIT
#include "disk_array.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <pi/files.h>
#include <pi/new_file.h>
#include <sys/mman.h>

#include <cerrno>
#include <cstring>

namespace hdump {

pi::Error work_file_error(int error) {
  return {error, fmt::format("the work files cannot be written: {}. --work=DIRECTORY names a "
                             "directory with more space.",
                             std::strerror(error))};
}

pi::Result<DiskSpace> DiskSpace::in(const std::string& directory) {
  DiskSpace space(directory);
  const auto fd = space.file(0);
  if (!fd) return fd.error();
  return space;
}

pi::Result<pi::UniqueFd> DiskSpace::file(uint64_t bytes) const {
  pi::UniqueFd fd = pi::unnamed_file(directory_);
  if (!fd)
    return pi::Error{errno, fmt::format("work files cannot be created in {}: {}. "
                                        "--work=DIRECTORY names another directory.",
                                        directory_, std::strerror(errno))};
  if (bytes != 0) {
    const int error = ::posix_fallocate(fd.get(), 0, static_cast<off_t>(bytes));
    if (error != 0) return work_file_error(error);
  }
  return fd;
}

Mapping::~Mapping() {
  if (at_ != nullptr) ::munmap(at_, bytes_);
}

pi::Result<Mapping> Mapping::of(int fd, uint64_t bytes) {
  Mapping mapping;
  if (bytes == 0) return mapping;
  void* at = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                    fd < 0 ? MAP_PRIVATE | MAP_ANONYMOUS : MAP_SHARED, fd, 0);
  if (at == MAP_FAILED) return work_file_error(errno);
  mapping.at_ = at;
  mapping.bytes_ = bytes;
  return mapping;
}

int append(int fd, std::span<const std::byte> bytes) {
  return pi::write_all(fd, bytes);
}

}  // namespace hdump
