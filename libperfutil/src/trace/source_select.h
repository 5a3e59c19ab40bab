// SPDX-License-Identifier: MIT
// Chooses between the module and perf, and gives the reason.
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
  std::string note;  // why the module is not used although it is loaded; else empty
};

// With PI_SOURCE_AUTO: the module when its device can be opened and no process owns the trace;
// PU_ERROR_FACILITY_BUSY when one does; perf when the module is missing, not permitted or of
// another version. Errors as TraceInit() lists them.
Result<SelectedSource> select_source(const TraceConfig& config, std::unique_ptr<Device> device);

}  // namespace pi::perfutil

#endif  // PI_PERFUTIL_SOURCE_SELECT_H
