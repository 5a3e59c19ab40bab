// SPDX-License-Identifier: MIT
// Opens perf events: for ticks, for context switches, and for the names of code and processes.
#ifndef PI_PERFUTIL_PERF_EVENTS_H
#define PI_PERFUTIL_PERF_EVENTS_H

#include <linux/perf_event.h>

#include <cstdint>
#include <string>
#include <vector>

#include <pi/result.h>

#include "perf_ring.h"
#include "source/sampling.h"
#include "system/process_fd.h"

namespace pi::perfutil {

// What this kernel and our permissions allow; open_cpu_events() removes features that are refused.
struct EventFeatures {
  bool kernel = true;       // samples of kernel code
  bool lost_format = true;  // exact count of lost records by read() (6.0)
  bool namespaces = true;   // of new tasks; needs CAP_PERFMON, whatever perf_event_paranoid is
  size_t ring_bytes = 512 << 10;
};

constexpr size_t min_ring_bytes = 32 << 10;

// What the samples in the rings contain.
struct SamplePlan {
  TickEvent tick;  // its period in nanoseconds, if it is time
  StackChoice stacks;
  uint32_t max_frames = 0;  // maximum of frames in a chain, kernel and user together
  // That ticks and switches copy of user stacks, with the registers; 0: none.
  uint32_t stack_bytes = 0;
};

// Fields at the end of every record that is not a sample, and fields of samples. The identifier
// names the event: samples of ticks and of switches share a ring.
constexpr uint64_t side_band_sample_type =
    PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CPU | PERF_SAMPLE_IDENTIFIER;
constexpr uint64_t tick_sample_type = PERF_SAMPLE_IP | side_band_sample_type;

// Period of the clock event for a rate. Slightly shorter than the nominal one: at exactly 1,000 a
// second the samples would stay in phase with the scheduler's tick for ever.
uint64_t tick_period_ns(uint32_t rate);

perf_event_attr side_band_attr(const EventFeatures& features, bool inherit);
perf_event_attr tick_attr(const EventFeatures& features, bool inherit, const SamplePlan& plan);
// Records of context switches: the previous and the next thread.
perf_event_attr switch_attr(const EventFeatures& features, bool inherit);
// Samples with the stack of a thread at its switch-out; needs permission to see the kernel.
perf_event_attr switch_stack_attr(const EventFeatures& features, bool inherit,
                                  const SamplePlan& plan);

// How many frames to request, so that kernel and user stacks can both have the wanted depth, within
// kernel.perf_event_max_stack.
uint32_t max_stack_frames(const StackChoice& stacks);

// The attributes that the event defines: type, configuration, and which modes to exclude.
perf_event_attr event_attr(const TickEvent& event);

// The error for EMFILE and ENFILE.
Error too_many_open_files();

// Above this kernel.perf_event_paranoid Debian's kernels refuse every event to a process without
// CAP_SYS_ADMIN; CAP_PERFMON is not enough.
constexpr int max_perfmon_paranoid = 2;

// Why perf_event_open is refused to root, or where perf_event_paranoid, here level, permits it, and
// what to do: the end of a sentence, and whole ones.
std::string refusal_despite_rights(int level);

// The system call; a file descriptor or a negative error number. leader: of the group, -1: none.
int open_perf_event(perf_event_attr attr, int pid, int cpu, int leader = -1);

// The events of one CPU: each vector holds one event a target; the first one owns the ring, the
// others write into it too. All are opened disabled.
struct CpuEvents {
  uint32_t cpu = 0;
  std::vector<ProcessFd> side_band_fds;
  std::vector<ProcessFd> tick_fds;
  std::vector<ProcessFd> switch_fds;  // these write to the ring of ticks
  // These, too, unless they have copies of stacks: then ticks could be lost for them.
  std::vector<ProcessFd> switch_stack_fds;
  PerfRing side_band;
  PerfRing ticks;
  PerfRing switch_stacks;       // empty without copies
  uint64_t side_band_lost = 0;  // records that LOST records in the rings have reported
  uint64_t ticks_lost = 0;
};

// targets (not empty): ids of the threads to record, together with those that they start, or -1
// alone for everything on the CPU. Threads that have ended are left out. The error's code is a PU_*
// code.
Result<CpuEvents> open_cpu_events(uint32_t cpu, const std::vector<int>& targets,
                                  const SamplePlan& plan, EventFeatures& features);

// Adds the events for context switches, disabled; with stacks if the plan has them.
Status open_switch_events(CpuEvents& events, const std::vector<int>& targets,
                          const SamplePlan& plan, EventFeatures& features);

// The number that names the event in its samples; 0 when it is unknown.
uint64_t event_identifier(const ProcessFd& fd);

// request: PERF_EVENT_IOC_ENABLE, _DISABLE.
void control_events(const std::vector<ProcessFd>& fds, unsigned long request);

// Records lost so far by the kernel's count, for all events; 0 when the kernel has no count.
uint64_t read_lost(const std::vector<ProcessFd>& fds, const EventFeatures& features);

}  // namespace pi::perfutil

#endif  // PI_PERFUTIL_PERF_EVENTS_H
