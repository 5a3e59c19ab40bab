// SPDX-License-Identifier: MIT
// Counts ticks by thread, call path and time, and by CPU and time.
#include "paths_by_time.h"

namespace post {

void PathsByTime::add(const pi::TprofTick& tick, const pi::RecordView& record, uint32_t cpu,
                      uint64_t time, const pi::UserFrames* user_frames) {
  const CallTree::Place place = calls_.add(tick, record, cpu, time, user_frames);
  tids_.try_emplace(place.root, tick.tid);
  code.add(tick, cpu, time, place.root, calls_.paths().node(place.function).value);
  by_path.add(time, place.function, 1);
  by_cpu.add(time, 2 * cpu + (tick.pid == idle_pid ? 1 : 0), 1);
}

}  // namespace post
