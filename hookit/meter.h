// SPDX-License-Identifier: MIT
// The metrics of the options: which meter reads them, and which columns show them.
#ifndef PI_HOOKIT_METER_H
#define PI_HOOKIT_METER_H

#include <string>
#include <vector>

#include <pi/result.h>

#include "options.h"
#include "report.h"

namespace pi::hookit {

struct ChosenMeter {
  pi::callflow::Meter meter;
  std::vector<pi::callflow::Column> columns;
  std::string note;  // what is measured otherwise than the names say, or left out; or empty
};

// Begins PTT if a metric needs it; it ends with the process.
Result<ChosenMeter> choose_meter(const Options& options);

}  // namespace pi::hookit

#endif  // PI_HOOKIT_METER_H
