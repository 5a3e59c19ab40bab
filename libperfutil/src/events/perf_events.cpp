// SPDX-License-Identifier: MIT
// Opens perf events: for ticks, for context switches, and for the names of code and processes.
#include "perf_events.h"

#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <ctime>

#include <fmt/format.h>
#include <pi/above_standard.h>

#include "event_refusal.h"
#include "perfutil.h"
#include "system/text.h"
#include "user_registers_x86.h"

namespace pi::perfutil {
Error too_many_open_files() {
  return {PU_ERROR_NOT_ENOUGH_MEMORY,
          "The limit of open files is too low for the perf events. Raise it with 'ulimit -n'."};
}

std::string refusal_despite_rights(int level) {
  constexpr const char* sandbox =
      "a container or sandbox forbids it (Docker: --cap-add PERFMON --security-opt "
      "seccomp=unconfined).";
  if (level <= max_perfmon_paranoid)
    return fmt::format("although the kernel's settings allow it: {}", sandbox);
  return fmt::format(
      "while kernel.perf_event_paranoid is {}: kernels of Debian then demand CAP_SYS_ADMIN, also "
      "of root. Do 'sysctl kernel.perf_event_paranoid={}', or give the process that capability. If "
      "it has it, {}",
      level, max_perfmon_paranoid, sandbox);
}

namespace {

perf_event_attr common_attr(const EventFeatures& features, bool inherit) {
  perf_event_attr attr{};
  attr.size = sizeof attr;
  attr.type = PERF_TYPE_SOFTWARE;
  attr.disabled = 1;
  attr.inherit = inherit;
  attr.sample_id_all = 1;
  attr.exclude_hv = 1;
  attr.use_clockid = 1;
  attr.clockid = CLOCK_MONOTONIC;
  attr.watermark = 1;
  attr.wakeup_watermark = static_cast<uint32_t>(features.ring_bytes / 4);
  if (features.lost_format) attr.read_format = PERF_FORMAT_LOST;
  return attr;
}

// The ring of ticks can be larger, for ticks with copies of stacks.
size_t side_band_ring_bytes(size_t ring_bytes) {
  return std::min(ring_bytes, EventFeatures{}.ring_bytes);
}

// An event that counts nothing, for the records that are not samples: excluding the kernel loses
// nothing and needs no permission for it.
perf_event_attr dummy_attr(const EventFeatures& features, bool inherit) {
  perf_event_attr attr = common_attr(features, inherit);
  attr.config = PERF_COUNT_SW_DUMMY;
  attr.sample_period = 1;
  attr.sample_type = side_band_sample_type;
  attr.exclude_kernel = 1;
  attr.wakeup_watermark = static_cast<uint32_t>(side_band_ring_bytes(features.ring_bytes) / 4);
  return attr;
}

// Removes one optional feature that may be the cause of the error; false when there is none.
bool ask_for_less(EventFeatures& features, int error) {
  if (features.namespaces && (error == -EINVAL || error == -EACCES)) {
    features.namespaces = false;
    return true;
  }
  if (features.lost_format && error == -EINVAL) {
    features.lost_format = false;
    return true;
  }
  return false;
}

Error open_error(int error, uint32_t cpu) {
  const std::string reason = errno_text(error);
  if (error == EACCES || error == EPERM)
    return {PU_ERROR_ACCESS_DENIED,
            fmt::format("The kernel does not permit perf events on CPU {} ({}).", cpu, reason)};
  if (error == EMFILE || error == ENFILE) return too_many_open_files();
  if (error == ENOMEM)
    return {PU_ERROR_NOT_ENOUGH_MEMORY, "The kernel has no memory for perf events."};
  return {PU_ERROR_NOT_SUPPORTED,
          fmt::format("perf_event_open does not work here (CPU {}: {}).", cpu, reason)};
}

// Opens one event for each target.
template <class MakeAttr>
int open_group(uint32_t cpu, const std::vector<int>& targets, EventFeatures& features,
               MakeAttr make_attr, std::vector<ProcessFd>& fds) {
  for (const int target : targets) {
    int fd = open_perf_event(make_attr(), target, static_cast<int>(cpu));
    while (fd < 0 && ask_for_less(features, fd))
      fd = open_perf_event(make_attr(), target, static_cast<int>(cpu));
    if (fd == -ESRCH && target != -1) continue;
    if (fd < 0) return fd;
    fds.emplace_back(fd);
  }
  return fds.empty() ? -ESRCH : 0;
}

Error ring_error(int error) {
  if (error == EPERM)
    return {PU_ERROR_NOT_ENOUGH_MEMORY,
            "The limit of locked memory for perf is used up: raise it with 'sysctl "
            "kernel.perf_event_mlock_kb=2048' or 'ulimit -l', or end other perf sessions."};
  return {PU_ERROR_NOT_ENOUGH_MEMORY,
          fmt::format("Cannot map a perf ring ({}).", errno_text(error))};
}

// Maps the first event's ring and has the others write into it too; empty and errno on failure.
PerfRing map_shared_ring(const std::vector<ProcessFd>& fds, size_t bytes) {
  PerfRing ring = PerfRing::map(fds.front().get(), bytes);
  for (size_t i = 1; ring && i < fds.size(); ++i)
    if (::ioctl(fds[i].get(), PERF_EVENT_IOC_SET_OUTPUT, fds.front().get()) != 0) return {};
  return ring;
}

bool map_rings(CpuEvents& events, size_t bytes) {
  events.side_band = map_shared_ring(events.side_band_fds, side_band_ring_bytes(bytes));
  if (!events.side_band) return false;
  events.ticks = map_shared_ring(events.tick_fds, bytes);
  return static_cast<bool>(events.ticks);
}

// Opens both groups; 0 or a negative error number.
int open_groups(CpuEvents& events, const std::vector<int>& targets, const SamplePlan& plan,
                EventFeatures& features) {
  const bool inherit = targets.front() != -1;
  const int error = open_group(
      events.cpu, targets, features, [&] { return side_band_attr(features, inherit); },
      events.side_band_fds);
  if (error != 0) return error;
  return open_group(
      events.cpu, targets, features, [&] { return tick_attr(features, inherit, plan); },
      events.tick_fds);
}

// Kernel frames are in the chain only if the event may sample the kernel.
void ask_for_stacks(perf_event_attr& attr, const EventFeatures& features, const SamplePlan& plan) {
  if (plan.stacks.which == 0) return;
  attr.sample_type |= PERF_SAMPLE_CALLCHAIN;
  attr.sample_max_stack = static_cast<uint16_t>(plan.max_frames);
  attr.exclude_callchain_kernel =
      !features.kernel || (plan.stacks.which & PITRACE_STACKS_KERNEL) == 0;
  attr.exclude_callchain_user = (plan.stacks.which & PITRACE_STACKS_USER) == 0;
}

void ask_for_copies(perf_event_attr& attr, const SamplePlan& plan) {
  if (plan.stack_bytes == 0 || (plan.stacks.which & PITRACE_STACKS_USER) == 0) return;
  attr.sample_type |= PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER;
  attr.sample_regs_user = user_register_mask;
  attr.sample_stack_user = plan.stack_bytes;
}

// As map_shared_ring(), for events that are opened later.
bool share_ring(const std::vector<ProcessFd>& fds, const ProcessFd& owner) {
  for (const auto& fd : fds)
    if (::ioctl(fd.get(), PERF_EVENT_IOC_SET_OUTPUT, owner.get()) != 0) return false;
  return true;
}

}  // namespace

uint64_t tick_period_ns(uint32_t rate) {
  return 997'130'000ull / rate;
}

perf_event_attr side_band_attr(const EventFeatures& features, bool inherit) {
  perf_event_attr attr = dummy_attr(features, inherit);
  attr.mmap = 1;
  attr.mmap2 = 1;
  attr.comm = 1;
  attr.comm_exec = 1;
  attr.task = 1;
  attr.namespaces = features.namespaces;
  // Not build_id: when one event requests it, the kernel also marks the records of other tools'
  // events with it (seen on 6.18), and perf record, running at the same time, takes their inodes
  // for build-ids.
  return attr;
}

perf_event_attr tick_attr(const EventFeatures& features, bool inherit, const SamplePlan& plan) {
  const TickEvent& tick = plan.tick;
  perf_event_attr attr = common_attr(features, inherit);
  attr.config = PERF_COUNT_SW_CPU_CLOCK;
  attr.sample_period = tick.period;
  attr.sample_type = tick_sample_type;
  attr.exclude_kernel = !features.kernel;
  ask_for_stacks(attr, features, plan);
  ask_for_copies(attr, plan);
  if (tick.is_time()) return attr;
  attr.type = tick.type;
  attr.config = tick.config;
  attr.config1 = tick.config1;
  attr.config2 = tick.config2;
  if ((tick.flags & PITRACE_EVENT_NO_KERNEL) != 0) attr.exclude_kernel = 1;
  attr.exclude_user = (tick.flags & PITRACE_EVENT_NO_USER) != 0;
  return attr;
}

perf_event_attr switch_attr(const EventFeatures& features, bool inherit) {
  perf_event_attr attr = dummy_attr(features, inherit);
  attr.context_switch = 1;
  return attr;
}

perf_event_attr switch_stack_attr(const EventFeatures& features, bool inherit,
                                  const SamplePlan& plan) {
  perf_event_attr attr = common_attr(features, inherit);
  attr.config = PERF_COUNT_SW_CONTEXT_SWITCHES;
  attr.sample_period = 1;
  attr.sample_type = tick_sample_type;
  ask_for_stacks(attr, features, plan);
  ask_for_copies(attr, plan);
  return attr;
}

uint32_t max_stack_frames(const StackChoice& stacks) {
  constexpr uint64_t kernel_default = 127;
  const uint64_t allowed =
      parse_number(read_line("/proc/sys/kernel/perf_event_max_stack")).value_or(kernel_default);
  const uint64_t sides = static_cast<uint64_t>(std::popcount(stacks.which));
  // Two more for each: the address of the tick itself, and one that shows that the stack is deeper.
  return static_cast<uint32_t>(std::min(allowed, sides * (stacks.depth + 2)));
}

perf_event_attr event_attr(const TickEvent& event) {
  perf_event_attr attr{};
  attr.size = sizeof attr;
  attr.type = event.type;
  attr.config = event.config;
  attr.config1 = event.config1;
  attr.config2 = event.config2;
  attr.exclude_kernel = (event.flags & PITRACE_EVENT_NO_KERNEL) != 0;
  attr.exclude_user = (event.flags & PITRACE_EVENT_NO_USER) != 0;
  return attr;
}

int open_perf_event(perf_event_attr attr, int pid, int cpu, int leader) {
  UniqueFd fd = above_standard(UniqueFd(static_cast<int>(
      ::syscall(SYS_perf_event_open, &attr, pid, cpu, leader, PERF_FLAG_FD_CLOEXEC))));
  return fd ? fd.release() : -errno;
}

Result<CpuEvents> open_cpu_events(uint32_t cpu, const std::vector<int>& targets,
                                  const SamplePlan& plan, EventFeatures& features) {
  // The wake-up mark is an attribute of the event, so a smaller ring needs new events.
  for (;; features.ring_bytes /= 2) {
    CpuEvents events;
    events.cpu = cpu;
    const int error = open_groups(events, targets, plan, features);
    if (error == -ESRCH)
      return Error{
          PU_ERROR_INVALID_PARAMETER,
          "The process to be traced does not exist any more. Give the id of a running process."};
    if (error != 0 && !events.side_band_fds.empty() && !plan.tick.is_time())
      return refused_event(-error, plan.tick.name);
    if (error != 0) return open_error(-error, cpu);
    if (map_rings(events, features.ring_bytes)) return events;
    const int map_error = errno;
    if ((map_error != EPERM && map_error != ENOMEM) || features.ring_bytes <= min_ring_bytes)
      return ring_error(map_error);
  }
}

Status open_switch_events(CpuEvents& events, const std::vector<int>& targets,
                          const SamplePlan& plan, EventFeatures& features) {
  const bool inherit = targets.front() != -1;
  int error = open_group(
      events.cpu, targets, features, [&] { return switch_attr(features, inherit); },
      events.switch_fds);
  if (error == 0 && plan.stacks.which != 0 && features.kernel)
    error = open_group(
        events.cpu, targets, features, [&] { return switch_stack_attr(features, inherit, plan); },
        events.switch_stack_fds);
  if (error != 0) return open_error(-error, events.cpu);
  const ProcessFd& owner = events.tick_fds.front();
  bool ready = share_ring(events.switch_fds, owner);
  if (ready && plan.stack_bytes != 0 && !events.switch_stack_fds.empty()) {
    for (size_t bytes = features.ring_bytes; !events.switch_stacks && bytes >= min_ring_bytes;
         bytes /= 2)
      events.switch_stacks = map_shared_ring(events.switch_stack_fds, bytes);
    if (!events.switch_stacks) events.switch_stack_fds.clear();
  } else {
    ready = ready && share_ring(events.switch_stack_fds, owner);
  }
  if (ready) return {};
  return Error{
      PU_FAILURE,
      fmt::format("The events for dispatches of CPU {} cannot use the ring of its ticks ({}).",
                  events.cpu, errno_text(errno))};
}

uint64_t event_identifier(const ProcessFd& fd) {
  uint64_t identifier = 0;
  return ::ioctl(fd.get(), PERF_EVENT_IOC_ID, &identifier) == 0 ? identifier : 0;
}

void control_events(const std::vector<ProcessFd>& fds, unsigned long request) {
  for (const auto& fd : fds) ::ioctl(fd.get(), request, 0);
}

uint64_t read_lost(const std::vector<ProcessFd>& fds, const EventFeatures& features) {
  if (!features.lost_format) return 0;
  uint64_t sum = 0;
  for (const auto& fd : fds) {
    uint64_t value[2] = {};  // count, lost
    if (::read(fd.get(), value, sizeof value) == sizeof value) sum += value[1];
  }
  return sum;
}

}  // namespace pi::perfutil
