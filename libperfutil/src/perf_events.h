// SPDX-License-Identifier: MIT
// Opens perf events: what is asked of the kernel for ticks and for names of code and processes.
#ifndef PI_PERFUTIL_PERF_EVENTS_H
#define PI_PERFUTIL_PERF_EVENTS_H

#include <linux/perf_event.h>

#include <cstdint>
#include <vector>

#include <pi/result.h>
#include <pi/unique_fd.h>

#include "perf_ring.h"

namespace pi::perfutil {

// What this kernel, and our permissions, turned out to allow; lowered by open_cpu_events() as it
// meets refusals.
struct EventFeatures {
  bool kernel = true;       // samples of kernel code
  bool lost_format = true;  // exact count of lost records by read() (6.0)
  bool namespaces = true;   // of new tasks; needs CAP_PERFMON whoever else may trace
  size_t ring_bytes = 512 << 10;
};

constexpr size_t ring_bytes_min = 32 << 10;

// Fields at the end of every record that is not a sample, and what samples carry.
constexpr uint64_t side_band_sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CPU;
constexpr uint64_t tick_sample_type = PERF_SAMPLE_IP | side_band_sample_type;

// Period of the clock event for a rate. Slightly short of the nominal one: at exactly 1,000 a
// second the samples would stay in phase with the scheduler's tick for ever.
uint64_t tick_period_ns(uint32_t rate);

perf_event_attr side_band_attr(const EventFeatures& features, bool inherit);
perf_event_attr tick_attr(const EventFeatures& features, bool inherit, uint64_t period_ns);

// The system call; a file descriptor or a negative error number.
int open_perf_event(perf_event_attr attr, int pid, int cpu);

// The events of one CPU: each vector holds one event a target; the first one owns the ring, the
// others write into it too. All are opened disabled.
struct CpuEvents {
  uint32_t cpu = 0;
  std::vector<UniqueFd> side_band_fds;
  std::vector<UniqueFd> tick_fds;
  PerfRing side_band;
  PerfRing ticks;
  uint64_t side_band_lost = 0;  // records the rings themselves told as lost
  uint64_t ticks_lost = 0;
};

// targets (not empty): thread ids whose events (and their children's) are wanted, or just -1 for
// everything on the CPU. Threads that have vanished are left out. The error's code is a PU_* code.
Result<CpuEvents> open_cpu_events(uint32_t cpu, const std::vector<int>& targets, uint64_t period_ns,
                                  EventFeatures& features);

// request: PERF_EVENT_IOC_ENABLE, _DISABLE.
void control_events(const std::vector<UniqueFd>& fds, unsigned long request);

// Records lost so far as the kernel counts them, over all events; 0 where it cannot tell.
uint64_t read_lost(const std::vector<UniqueFd>& fds, const EventFeatures& features);

}  // namespace pi::perfutil

#endif  // PI_PERFUTIL_PERF_EVENTS_H
