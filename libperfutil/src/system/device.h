// SPDX-License-Identifier: MIT
// The interface of the module's device; unit tests implement a fake.
#ifndef PI_PERFUTIL_DEVICE_H
#define PI_PERFUTIL_DEVICE_H

#include <cstdint>
#include <memory>

#include <pi/result.h>
#include <pi/unique_fd.h>

namespace pi::perfutil {

class Device {
 public:
  virtual ~Device() = default;  // closes
  // 0 or a negative error number.
  virtual int open() = 0;
  // A PITRACE_IOC_* request; 0 or a negative error number.
  virtual int control(unsigned long request, void* argument) = 0;
  // For poll(); -1 while it is not open.
  virtual int fd() const = 0;
  // Maps read-only; empty when this CPU has no such buffer.
  virtual UniqueMapping map(uint32_t kind, uint32_t cpu, size_t bytes) = 0;
};

}  // namespace pi::perfutil

#endif  // PI_PERFUTIL_DEVICE_H
