// SPDX-License-Identifier: MIT
// ITrace by the module: ioctls, and the meaning of their errors.
#ifndef PI_PERFUTIL_DRIVER_ITRACE_H
#define PI_PERFUTIL_DRIVER_ITRACE_H

#include "itrace/itrace.h"
#include "system/device.h"

namespace pi::perfutil {

// The device must be open, as the trace's owner or not, and outlive this object.
class DriverITrace final : public ITrace {
 public:
  explicit DriverITrace(Device& device) : device_(device) {}

  Status install(const pitrace_itrace& setup) override;
  Status remove() override;
  Status enable(uint32_t first, uint32_t last) override;
  Status disable() override;
  Status on() override;
  Status off() override;
  Result<pitrace_itrace_info> info() override;

  // The result of ON or OFF, by the module's error number.
  Status switched(int error, bool on);

 private:
  static Status outcome(int error, const char* what);
  Error not_possible_now(const char* what);

  Device& device_;
};

}  // namespace pi::perfutil

#endif  // PI_PERFUTIL_DRIVER_ITRACE_H
