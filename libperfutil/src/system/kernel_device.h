// SPDX-License-Identifier: MIT
// The real device: the only code that opens, controls or maps /dev/pitrace.
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
  // A child of fork() keeps the open device, too.
  void keep_in_children() { kept_ = UniqueFd(std::move(fd_)); }
  // The descriptor is not the device's any more: it is not closed.
  void forget() {
    (void)fd_.release();
    (void)kept_.release();
  }
  UniqueMapping map(uint32_t kind, uint32_t cpu, size_t bytes) override;

 private:
  ProcessFd fd_;
  UniqueFd kept_;  // in place of fd_
};

// Whether the device's node is there, permitted or not.
bool kernel_device_exists();

}  // namespace pi::perfutil

#endif  // PI_PERFUTIL_KERNEL_DEVICE_H
