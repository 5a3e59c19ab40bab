// SPDX-License-Identifier: MIT
// AboveIdle: where the time of each CPU goes, from the module's hooks or from /proc/stat.
#ifndef PI_PERFUTIL_ABOVE_IDLE_H
#define PI_PERFUTIL_ABOVE_IDLE_H

#include <map>
#include <memory>
#include <string>

#include <pi/result.h>

#include "perfutil.h"
#include "system/device.h"

namespace pi::perfutil {

// By CPU; those that are not online are missing.
using AboveIdleCounters = std::map<uint32_t, ai_counters>;

class AboveIdleSource {
 public:
  virtual ~AboveIdleSource() = default;
  virtual int kind() const = 0;  // PI_AI_*
  // Sums since the source was made. PU_FAILURE.
  virtual Result<AboveIdleCounters> read() = 0;
};

// The module's, when the device can be opened and its kernel has the hooks, else /proc/stat at
// stat_path. cpus: how many may come online. PU_ERROR_NOT_SUPPORTED.
Result<std::unique_ptr<AboveIdleSource>> open_above_idle(
    std::unique_ptr<Device> device, uint32_t cpus, const std::string& stat_path = "/proc/stat");

}  // namespace pi::perfutil

#endif  // PI_PERFUTIL_ABOVE_IDLE_H
