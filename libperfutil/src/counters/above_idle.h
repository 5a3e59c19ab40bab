// SPDX-License-Identifier: MIT
// AboveIdle: idle, busy and interrupt time of each CPU, from the module or from /proc/stat.
#ifndef PI_PERFUTIL_ABOVE_IDLE_H
#define PI_PERFUTIL_ABOVE_IDLE_H

#include <map>
#include <memory>
#include <string>

#include <pi/result.h>

#include "perfutil.h"
#include "system/device.h"

namespace pi::perfutil {

// By CPU; CPUs that are not online are missing.
using AboveIdleCounters = std::map<uint32_t, ai_counters>;

class AboveIdleSource {
 public:
  virtual ~AboveIdleSource() = default;
  virtual int kind() const = 0;  // PI_AI_*
  // Sums since the source was made. PU_FAILURE.
  virtual Result<AboveIdleCounters> read() = 0;
};

// Uses the module when the device can be opened and the kernel has the hooks, else /proc/stat at
// stat_path. cpus: how many CPUs may be online. PU_ERROR_NOT_SUPPORTED.
Result<std::unique_ptr<AboveIdleSource>> open_above_idle(
    std::unique_ptr<Device> device, uint32_t cpus, const std::string& stat_path = "/proc/stat");

}  // namespace pi::perfutil

#endif  // PI_PERFUTIL_ABOVE_IDLE_H
