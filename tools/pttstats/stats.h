// SPDX-License-Identifier: MIT
// Makes the report of pttstats: the whole system by CPU and by process. Pure functions, so that
// tests can compare whole reports.
#ifndef PI_PTTSTATS_STATS_H
#define PI_PTTSTATS_STATS_H

#include <cstddef>
#include <string>

#include "perfutil_ptt.h"

namespace pi::pttstats {

// metric: from 0, below state.metrics. tools_version: from GetDLLVersionEx().
std::string stats_text(const ptt_stats& stats, const pi_ptt_state& state, size_t metric,
                       uint32_t tools_version);
// One object, all metrics.
std::string stats_json(const ptt_stats& stats, const pi_ptt_state& state);

}  // namespace pi::pttstats

#endif  // PI_PTTSTATS_STATS_H
