// SPDX-License-Identifier: MIT
// Chooses between the module and perf, and tells why.
#ifndef PI_PERFUTIL_SOURCE_SELECT_H
#define PI_PERFUTIL_SOURCE_SELECT_H

#include <memory>
#include <string>

#include "source/collector.h"
#include "source/config.h"
#include "system/device.h"

namespace pi::perfutil {

struct SelectedSource {
  std::unique_ptr<Collector> collector;
  std::string note;  // why the module was not taken although it is there; else empty
};

// With source auto: the module when its device can be opened and nobody owns it, busy when somebody
// does, perf when the module is missing or not permitted. Errors as TraceInit() lists them.
Result<SelectedSource> select_source(const TraceConfig& config, std::unique_ptr<Device> device);

}  // namespace pi::perfutil

#endif  // PI_PERFUTIL_SOURCE_SELECT_H
