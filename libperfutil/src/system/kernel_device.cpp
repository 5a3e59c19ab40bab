// SPDX-License-Identifier: MIT
// The real device: opens, controls and maps /dev/pitrace.
#include "kernel_device.h"

#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <cerrno>

#include <pi/above_standard.h>
#include <pi/uninterrupted.h>
#include <pitrace/abi.h>

namespace pi::perfutil {

int KernelDevice::open() {
  fd_ = ProcessFd(above_standard(UniqueFd(::open(PITRACE_DEVICE_PATH, O_RDWR | O_CLOEXEC))));
  return fd_ ? 0 : -errno;
}

int KernelDevice::control(unsigned long request, void* argument) {
  const int result = uninterrupted([&] { return ::ioctl(fd(), request, argument); });
  return result < 0 ? -errno : 0;
}

UniqueMapping KernelDevice::map(uint32_t kind, uint32_t cpu, size_t bytes) {
  const auto offset = static_cast<off_t>(PITRACE_MMAP_OFFSET(kind, cpu));
  return UniqueMapping(::mmap(nullptr, bytes, PROT_READ, MAP_SHARED, fd(), offset), bytes);
}

bool kernel_device_exists() {
  struct stat facts {};
  return ::stat(PITRACE_DEVICE_PATH, &facts) == 0 && S_ISCHR(facts.st_mode);
}

}  // namespace pi::perfutil
