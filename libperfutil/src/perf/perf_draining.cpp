// SPDX-License-Identifier: MIT
// perf events as a source: moves records from the kernel's rings and the hooks' rings into the
// trace's buffers, in time order.
#include "perf_collector.h"

#include <sys/eventfd.h>

#include <algorithm>
#include <new>
#include <utility>

#include <fmt/format.h>

#include "system/system_facts.h"

namespace pi::perfutil {
namespace {

// StackUnwinding has two queues for each CPU, since records come in the order of their times within
// one ring only: its number, and this with its number for stacks at switches.
constexpr uint32_t of_switches = uint32_t{1} << 31;

}  // namespace

void PerfCollector::hold_record(uint32_t queue, std::span<const std::byte> record) {
  const uint64_t time = PerfConverter::tick_time(record);
  unwinding_.hold(
      queue, PerfConverter::is_sample(record)
                 ? held_record(time, record, PerfConverter::chain_offset, unwinding_.take_buffer())
                 : held_record(time, record, 0));
}

// Reads the ticks as well, but holds them for put_in_order().
void PerfCollector::read_rings(CpuEvents& events) {
  UserBuffer& mte = buffers_.at(events.cpu, PITRACE_BUFFER_MTE);
  HeldTicks& held = held_[events.cpu];
  bool sane = events.side_band.drain([&](std::span<const std::byte> record) {
    tell_resolver(record);
    converter_.convert_side_band(record, mte);
    events.side_band_lost += converter_.lost_in_last();
  });
  sane &= events.ticks.drain([&](std::span<const std::byte> record) {
    if (unwound_)
      hold_record(events.cpu, record);
    else
      held.hold(PerfConverter::tick_time(record), record);
  });
  // After the ring with the switches, so that their stacks are there.
  sane &= events.switch_stacks.drain([&](std::span<const std::byte> record) {
    // A switch whose stack is lost has none.
    if (const uint64_t lost = PerfConverter::lost_in(record); lost != 0)
      switch_stacks_lost_ += lost;
    else
      hold_record(events.cpu | of_switches, record);
  });
  if (!sane)
    notes_.push_back(fmt::format(
        "A perf ring of CPU {} was damaged; some of its records are missing.", events.cpu));
}

void PerfCollector::tell_resolver(std::span<const std::byte> record) {
  if (!unwound_) return;
  std::string path;
  auto change = PerfConverter::process_change(record, path);
  if (!change) return;
  change->path = path.c_str();
  unwinding_.change(*change);
}

uint64_t PerfCollector::resolve_stacks(uint64_t until) {
  if (!unwound_) return until;
  const auto put = [this](uint32_t queue, HeldStack& held, const ResolvedStack* resolved) {
    if (resolved) replace_frames(held, PerfConverter::chain_offset, *resolved);
    held_[queue & ~of_switches].hold(held.time, held.record);
  };
  if (until == UINT64_MAX) unwinding_.finish(until, put);
  const uint64_t waits = unwinding_.advance(until, StackUnwinding::Wait::usual, put);
  reader_.set_waits(unwinding_.is_waiting());
  return waits == UINT64_MAX ? until : waits - 1;
}

void PerfCollector::put_ticks(CpuEvents& events, uint64_t until) {
  UserBuffer& trace = buffers_.at(events.cpu, PITRACE_BUFFER_TRACE);
  held_[events.cpu].release(until, [&](std::span<const std::byte> record) {
    converter_.convert_tick(record, trace);
    events.ticks_lost += converter_.lost_in_last();
  });
}

// A CPU that has just come online has no buffers yet.
UserBuffer& PerfCollector::trace_buffer_of(uint32_t cpu) {
  if (!buffers_.has(cpu) && !buffers_.add_cpu(cpu)) cpu = buffers_.cpus().front();
  return buffers_.at(cpu, PITRACE_BUFFER_TRACE);
}

// All records up to time horizon were read. A newer one may not be the oldest: newer hooks wait for
// the next call, and so do ticks after ticks_until.
void PerfCollector::put_in_order(uint64_t horizon, uint64_t ticks_until) {
  ticks_until = resolve_stacks(ticks_until);
  horizon = std::min(horizon, ticks_until);
  hook_queue_.deliver(
      horizon, [this](const FoundHook& hook, std::span<const std::byte> record, uint64_t& time) {
        if (const auto events = events_.find(hook.cpu); events != events_.end())
          put_ticks(events->second, hook.time);
        trace_buffer_of(hook.cpu).put_record(time, record);
      });
  for (auto& [cpu, events] : events_) put_ticks(events, ticks_until);
  HookBatch& batch = hook_queue_.incoming();
  trace_buffer_of(events_.empty() ? 0 : events_.begin()->first)
      .count_lost_by_source(std::exchange(batch.lost, 0));
  if (std::exchange(batch.damaged, 0) != 0)
    notes_.push_back(
        "A process has damaged its memory for user hooks. The remaining hooks of one thread are "
        "missing.");
}

// All flows are stored as records of the first CPU. In a buffer that streams they wait for space.
void PerfCollector::take_flows(bool all) {
  if (events_.empty()) return;
  const uint32_t cpu = events_.begin()->first;
  const auto held = buffers_.at(cpu, PITRACE_BUFFER_TRACE).unread().records.size();
  // The rest is for time records, ticks and hooks.
  const uint64_t usable = status_.trace_bytes / 4 * 3;
  const bool waits = config_.mode == PITRACE_MODE_CONTINUOUS && !all;
  const size_t before = hook_queue_.incoming().hooks.size();
  itrace_.take(status_.enabled, cpu,
               !waits          ? ~0ull
               : usable > held ? usable - held
                               : 0,
               hook_queue_.incoming());
  flows_ |= hook_queue_.incoming().hooks.size() != before;
  if (buffers_.full()) itrace_.end();
}

// Reads the clock first: a tick that is made while the rings are read may be missed, and no newer
// hook may be stored before it.
uint64_t PerfCollector::read_all() {
  const uint64_t horizon = trace_clock();
  for (auto& [cpu, events] : events_) read_rings(events);
  take_flows(false);
  if (hooks_) hooks_->collect(configured_cpus_, hook_queue_.incoming());
  return horizon;
}

void PerfCollector::drain_all() {
  if (!status_.on) return;
  const uint64_t horizon = read_all();
  put_in_order(horizon, horizon);
  wake_section_reader();
}

// For use before a change of how ticks are stored: stores all ticks that were made so far.
void PerfCollector::drain_to_the_last_tick() {
  if (!status_.on) return;
  const uint64_t horizon = read_all();
  put_in_order(horizon, ~0ull);
  wake_section_reader();
}

void PerfCollector::settle_hooks() {
  for (auto& [cpu, events] : events_) read_rings(events);
  take_flows(true);
  if (hooks_) hooks_->settle(configured_cpus_, hook_queue_.incoming());
  put_in_order(~0ull, ~0ull);
  wake_section_reader();
}

void PerfCollector::wake_section_reader() {
  if (buffers_.take_section_ready()) ::eventfd_write(section_event_.get(), 1);
}

void PerfCollector::guarded(void (PerfCollector::*work)()) {
  std::lock_guard lock(mutex_);
  try {
    (this->*work)();
  } catch (const std::bad_alloc&) {
    // Allocates nothing. What was not read stays in the rings; the kernel counts what they drop.
  }
}

}  // namespace pi::perfutil
