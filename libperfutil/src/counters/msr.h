// SPDX-License-Identifier: MIT
// Model-specific registers of one CPU, through the kernel's msr device.
#ifndef PI_PERFUTIL_MSR_H
#define PI_PERFUTIL_MSR_H

#include <cstdint>
#include <string>

#include <pi/result.h>

namespace pi::perfutil {

// Where the kernel has the devices and its restrictions; tests use other paths.
struct MsrPlaces {
  std::string devices = "/dev/cpu";
  std::string module = "/sys/module/msr";
  std::string lockdown = "/sys/kernel/security/lockdown";
};

// PU_ERROR_INVALID_PARAMETER (no such CPU online), PU_ERROR_NOT_SUPPORTED (no msr device),
// PU_ERROR_ACCESS_DENIED, PU_FAILURE (the processor refuses that register).
Result<uint64_t> read_msr(uint32_t cpu, uint32_t number, const MsrPlaces& places = {});

// As read_msr(); PU_FAILURE also for a value that the processor refuses.
Status write_msr(uint32_t cpu, uint32_t number, uint64_t value, const MsrPlaces& places = {});

}  // namespace pi::perfutil

#endif  // PI_PERFUTIL_MSR_H
