// SPDX-License-Identifier: MIT
// PTT's metrics: their numbers, names and events.
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
  int id = 0;  // PTT_METRIC_*, a classic event number, or 0: only the name is known
  std::string name;
  TickEvent event;  // the event "time" means cycles

  bool is_cycles() const { return event.is_time(); }
};

using PttMetrics = std::vector<PttMetric>;

// Check the metrics as PttInit() does, in the same order, except what only the kernel can check.
Result<PttMetrics> ptt_metrics(std::span<const int> ids, int priv);
Result<PttMetrics> ptt_metrics(std::span<const std::string> names, int priv);

// In the form of the module's ioctls.
pitrace_ptt_metric to_abi(const PttMetric& metric);

// Whether the module counts these metrics first, in this order.
bool ptt_has(const pitrace_ptt_info& info, const PttMetrics& metrics);

}  // namespace pi::perfutil

#endif  // PI_PERFUTIL_PTT_METRICS_H
