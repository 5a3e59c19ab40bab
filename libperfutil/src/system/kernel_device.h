// SPDX-License-Identifier: MIT
// The real device: opens, controls and maps /dev/pitrace.
#ifndef PI_PERFUTIL_KERNEL_DEVICE_H
#define PI_PERFUTIL_KERNEL_DEVICE_H

#include "device.h"
#include "process_fd.h"

namespace pi::perfutil {

class KernelDevice final : public Device {
 public:
  int open() override;
  int control(unsigned long request, void* argument) override;
  int fd() const override { return kept_ ? kept_.get() : fd_.get(); }
  // A child of fork() keeps the device open as well.
  void keep_in_children() { kept_ = UniqueFd(std::move(fd_)); }
  // The descriptor is not the device any more: does not close it.
  void forget() {
    (void)fd_.release();
    (void)kept_.release();
  }
  UniqueMapping map(uint32_t kind, uint32_t cpu, size_t bytes) override;

 private:
  ProcessFd fd_;
  UniqueFd kept_;  // used instead of fd_ after keep_in_children()
};

// Whether the device's node exists, even if this user may not open it.
bool kernel_device_exists();

}  // namespace pi::perfutil

#endif  // PI_PERFUTIL_KERNEL_DEVICE_H
