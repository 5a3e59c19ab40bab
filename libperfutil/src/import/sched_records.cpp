// SPDX-License-Identifier: MIT
// Context switches and wake-ups of a recording of perf that has them as samples of the scheduler's
// tracepoints.
#include "sched_records.h"

#include <pitrace/abi.h>

#include <algorithm>
#include <bit>

namespace pi::perfutil {
namespace {

// The bits of prev_state, which the kernel makes for the tracepoint (TASK_REPORT in its sched.h).
uint32_t state_of(uint64_t prev_state) {
  constexpr uint64_t preempted = 0x100, states = preempted - 1;
  constexpr uint32_t of_bit[] = {PITRACE_STATE_SLEEPING, PITRACE_STATE_UNINTERRUPTIBLE,
                                 PITRACE_STATE_STOPPED,  PITRACE_STATE_STOPPED,
                                 PITRACE_STATE_DEAD,     PITRACE_STATE_DEAD,
                                 PITRACE_STATE_PARKED,   PITRACE_STATE_IDLE};
  if ((prev_state & states) != 0) return of_bit[std::countr_zero(prev_state & states)];
  if (prev_state == 0) return PITRACE_STATE_RUNNABLE;
  if (prev_state == preempted) return PITRACE_STATE_RUNNABLE | PITRACE_STATE_PREEMPTED;
  return PITRACE_STATE_OTHER;
}

constexpr const char* of_threads =
    "Context switches: only certain processes were recorded, and the samples of sched:sched_switch "
    "have only the switches away from their threads: when a thread ran again, and what ran "
    "meanwhile, is not known. 'perf record -a -e sched:sched_switch' records all switches.";
constexpr const char* of_namespace =
    "Context switches: perf ran in a PID namespace, and the samples of sched:sched_switch have the "
    "ids of another one.";
constexpr const char* some =
    "Context switches: the samples of sched:sched_switch are only some of them; 'perf record -F' "
    "and "
    "'-c' apply to it, too: write 'perf record -e cpu-clock/freq=1000/ -e sched:sched_switch'.";
constexpr const char* no_format =
    "Context switches: the recording does not describe the data of sched:sched_switch.";

SchedRecords::Kind kind_of(const RecordedEvent& event) {
  using Kind = SchedRecords::Kind;
  if (event.attr.type != PERF_TYPE_TRACEPOINT) return Kind::none;
  if (event.name == "sched:sched_switch") return Kind::context_switch;
  if (event.name == "sched:sched_waking") return Kind::waking;
  if (event.name == "sched:sched_wakeup") return Kind::wakeup;
  return event.name == "sched:sched_wakeup_new" ? Kind::wakeup_new : Kind::none;
}

}  // namespace

const std::optional<WakingFormat>& SchedRecords::format_of(Kind kind) const {
  return kind == Kind::waking   ? formats_.waking
         : kind == Kind::wakeup ? formats_.wakeup
                                : formats_.wakeup_new;
}

void SchedRecords::choose(const PerfFile& file) {
  formats_ = file.tracepoints;
  const auto& events = file.events.events();
  const bool has_waking = std::ranges::any_of(
      events, [](const RecordedEvent& event) { return kind_of(event) == Kind::waking; });
  kinds_.assign(events.size(), Kind::none);
  for (size_t i = 0; i < events.size(); ++i) {
    const RecordedEvent& event = events[i];
    const Kind kind = kind_of(event);
    const bool is_switch = kind == Kind::context_switch;
    if (kind == Kind::none || (kind == Kind::wakeup && has_waking)) continue;
    if (std::ranges::find(kinds_, kind) != kinds_.end()) continue;  // named twice
    constexpr uint64_t needed =
        PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CPU | PERF_SAMPLE_RAW;
    const bool described =
        (event.attr.sample_type & needed) == needed &&
        (is_switch ? formats_.context_switch.has_value() : format_of(kind).has_value());
    const bool of_cpus =
        file.threads == PerfFile::Threads::unknown
            ? event.attr.enable_on_exec == 0  // those of a command wait for its exec
            : file.threads == PerfFile::Threads::of_cpus;
    const bool each = event.attr.freq == 0 && event.attr.sample_period == 1;
    if (described && of_cpus && each) {
      kinds_[i] = kind;
      has_switches_ |= is_switch;
    } else if (is_switch) {
      unused_ = !described ? no_format : !of_cpus ? of_threads : some;
    }
  }
  if (!has_switches_) kinds_.clear();
}

void SchedRecords::refuse_namespace() {
  has_switches_ = false;
  unused_ = of_namespace;
}

std::optional<SchedRecords::Content> SchedRecords::read(Kind kind,
                                                        const RecordFields& fields) const {
  const auto low = [](uint64_t number) { return static_cast<uint32_t>(number); };
  if (kind == Kind::context_switch) {
    const SwitchFormat& format = *formats_.context_switch;
    const auto prev = format.prev_tid.of(fields.raw), next = format.next_tid.of(fields.raw),
               state = format.prev_state.of(fields.raw);
    if (!prev || !next || !state) return std::nullopt;
    // The idle task is always runnable.
    return Content{low(*prev), low(*next), *prev == 0 ? PITRACE_STATE_RUNNABLE : state_of(*state)};
  }
  const WakingFormat& format = *format_of(kind);
  const auto flags = format.flags.of(fields.raw), tid = format.tid.of(fields.raw),
             cpu = format.cpu.of(fields.raw);
  if (!flags || !tid || !cpu) return std::nullopt;
  constexpr uint64_t in_interrupt = 0x8 | 0x10;  // TRACE_FLAG_HARDIRQ, _SOFTIRQ
  return Content{low(*tid), fields.tid,
                 low(*cpu) | ((*flags & in_interrupt) != 0 ? PITRACE_WAKEUP_INTERRUPT : 0)};
}

std::optional<uint32_t> SchedRecords::process_of(uint32_t tid) const {
  if (tid == 0) return 0;
  const auto known = processes_.find(tid);
  return known == processes_.end() ? std::nullopt : std::optional(known->second);
}

}  // namespace pi::perfutil
