// SPDX-License-Identifier: MIT
// Where the fields of tracepoints are in the raw data of their samples, as a recording of perf
// describes them.
#ifndef PI_PERFUTIL_TRACEPOINT_FORMATS_H
#define PI_PERFUTIL_TRACEPOINT_FORMATS_H

#include <cstdint>
#include <optional>
#include <string_view>

#include "perf_event_table.h"

namespace pi::perfutil {

// A field that is a number.
struct TracepointField {
  size_t offset = 0;
  size_t size = 0;  // 1, 2, 4 or 8

  // Nothing if the data are too short.
  std::optional<uint64_t> of(Bytes raw) const;
};

// Of sched:sched_switch.
struct SwitchFormat {
  TracepointField prev_tid, prev_state, next_tid;
};

// Of sched:sched_waking, sched_wakeup and sched_wakeup_new.
struct WakingFormat {
  TracepointField flags, tid, cpu;
};

struct TracepointFormats {
  std::optional<SwitchFormat> context_switch;
  std::optional<WakingFormat> waking, wakeup, wakeup_new;

  // tracing_data: as perf copies it from tracefs, in the format of trace-cmd (trace.dat(5)).
  // Damaged data describe the tracepoints before the damage.
  static TracepointFormats read(Bytes tracing_data);
};

}  // namespace pi::perfutil

#endif  // PI_PERFUTIL_TRACEPOINT_FORMATS_H
