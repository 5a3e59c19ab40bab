// SPDX-License-Identifier: MIT
// PTT's metrics: their numbers and names, and what counts them.
#ifndef PI_PERFUTIL_PTT_METRICS_H
#define PI_PERFUTIL_PTT_METRICS_H

#include <span>
#include <string>
#include <vector>

#include <pi/result.h>
#include <pitrace/ptt_abi.h>

#include "source/sampling.h"

namespace pi::perfutil {

struct PttMetric {
  int id = 0;  // PTT_METRIC_*, an event of the original, or 0: known by its name only
  std::string name;
  TickEvent event;  // time stands for cycles

  bool is_cycles() const { return event.is_time(); }
};

using PttMetrics = std::vector<PttMetric>;

// The errors are PttInit()'s, in its order, as far as they do not need the kernel.
Result<PttMetrics> ptt_metrics(std::span<const int> ids, int priv);
Result<PttMetrics> ptt_metrics(std::span<const std::string> names, int priv);

// As the module takes and tells them.
pitrace_ptt_metric to_abi(const PttMetric& metric);

// Does the module count these first, in this order?
bool ptt_has(const pitrace_ptt_info& info, const PttMetrics& metrics);

}  // namespace pi::perfutil

#endif  // PI_PERFUTIL_PTT_METRICS_H
