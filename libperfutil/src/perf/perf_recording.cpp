// SPDX-License-Identifier: MIT
// perf events as a source: turns the trace on and off, and follows CPU hotplug.
#include "perf_collector.h"

#include <linux/perf_event.h>
#include <sys/ioctl.h>

#include <algorithm>
#include <cerrno>

#include <fmt/format.h>

#include "proc/proc_snapshot.h"
#include "source/startup_records.h"
#include "system/process_fd.h"
#include "system/system_facts.h"
#include "system/text.h"

namespace pi::perfutil {
namespace {

// Hundreds of ticks with copies, since the reader wakes up ten times a second.
constexpr size_t ring_bytes_with_copies = 4 << 20;

}  // namespace

std::vector<uint32_t> PerfCollector::online_cpus() const {
  return parse_cpu_list(read_text(config_.online_path).value_or(""));
}

Error PerfCollector::no_cpu_list(int error) const {
  return {PU_ERROR_INTERNAL,
          fmt::format("'{}' does not list the online CPUs{}.", config_.online_path,
                      error == 0 ? "" : " (" + errno_text(error) + ")")};
}

std::vector<int> PerfCollector::targets() const {
  if (scope_.system) return {-1};
  std::vector<int> tids;
  for (const uint32_t pid : list_processes(config_.proc_path, static_cast<uint32_t>(scope_.pid)))
    for (const uint32_t tid : list_threads(config_.proc_path, pid))
      tids.push_back(static_cast<int>(tid));
  return tids;
}

SamplePlan PerfCollector::plan() const {
  SamplePlan plan;
  plan.tick = status_.tick;
  if (plan.tick.is_time()) plan.tick.period = tick_period_ns(status_.rate);
  plan.stacks = status_.stacks;
  plan.max_frames = max_stack_frames(plan.stacks);
  if ((plan.stacks.which & PITRACE_STACKS_USER) != 0) plan.stack_bytes = unwinding_.bytes();
  return plan;
}

Error PerfCollector::process_gone() const {
  return {PU_ERROR_INVALID_PARAMETER,
          fmt::format("Process {} does not exist any more. Give the id of a running process.",
                      scope_.pid)};
}

Status PerfCollector::open_cpu(uint32_t cpu) {
  const auto threads = targets();
  if (threads.empty()) return process_gone();
  auto events = open_cpu_events(cpu, threads, plan(), features_);
  if (!events) return events.error();
  if (const auto added = buffers_.add_cpu(cpu); !added) return added.error();
  events_.insert_or_assign(cpu, std::move(*events));
  return {};
}

Status PerfCollector::open_everything() {
  errno = 0;
  const auto cpus = online_cpus();
  if (cpus.empty()) return no_cpu_list(errno);
  for (const uint32_t cpu : cpus) {
    const auto opened = open_cpu(cpu);
    if (opened) continue;
    // Not an error when the CPU has just gone offline. Without the list it is one: a CPU must not
    // be missing from the trace unnoticed.
    const auto online = online_cpus();
    if (online.empty() || std::find(online.begin(), online.end(), cpu) != online.end())
      return opened.error();
  }
  return {};
}

Status PerfCollector::on() {
  std::unique_lock lock(mutex_);
  for (uint32_t kind = 0; kind < PITRACE_BUFFERS; ++kind) buffers_.reset(kind);
  buffers_.set_suspended(false);
  status_.suspended = false;
  converter_.reset();
  notes_.clear();
  flows_ = false;
  unreadable_processes_ = 0;
  incomplete_ = {};
  held_.clear();
  hook_queue_.reset();
  configured_cpus_ = configured_cpus();
  unwound_ = plan().stack_bytes != 0;
  switch_stacks_lost_ = 0;
  switch_stacks_refused_ = false;
  converter_.set_unwound(unwound_);
  if (unwound_) unwinding_.begin();
  features_.ring_bytes = unwound_ ? ring_bytes_with_copies : EventFeatures{}.ring_bytes;
  auto started = reader_.prepare();
  if (started) started = open_everything();
  if (started) started = begin_recording(lock);
  if (!started) events_.clear();
  return started;
}

// The order matters: take the snapshot's time, enable the side band, read /proc, then drain the
// rings. So whatever happens meanwhile is recorded with a later time, and can be replayed on top of
// the snapshot without harm. Ticks are enabled last.
Status PerfCollector::begin_recording(std::unique_lock<std::mutex>& lock) {
  if (events_.empty()) return Error{PU_ERROR_INTERNAL, "No CPU can be traced: all went offline."};
  const uint64_t time = trace_clock();
  const uint32_t interval_id = status_.interval_id + 1;
  const uint32_t first = events_.begin()->first;
  put_startup(time, status_.tick, status_.rate, interval_id,
              buffers_.at(first, PITRACE_BUFFER_MTE));
  for (auto& [cpu, events] : events_) {
    reader_.watch(events.side_band_fds.front().get());
    reader_.watch(events.tick_fds.front().get());
    control_events(events.side_band_fds, PERF_EVENT_IOC_ENABLE);
  }
  if (status_.enabled.test(PITRACE_MAJOR_MTE)) put_snapshot(time, lock);
  if (const auto running = run_samples(false); !running) return running;
  reader_.watch(itrace_.ready_fd());
  const auto started = reader_.start([this] { guarded(&PerfCollector::drain_all); },
                                     [this] { guarded(&PerfCollector::follow_cpus); });
  if (!started) return started;
  status_.interval_id = interval_id;
  status_.start_time = time;
  status_.stop_time = 0;
  status_.on = true;
  if (hooks_) hooks_->begin(time);
  publish_hooks();
  return {};
}

// The events for context switches cost time at each switch, even while they are disabled, so they
// are not opened before dispatches are enabled.
Status PerfCollector::run_samples(CpuEvents& events, bool paused) {
  const auto run = [](const std::vector<ProcessFd>& fds, bool wanted) {
    control_events(fds, wanted ? PERF_EVENT_IOC_ENABLE : PERF_EVENT_IOC_DISABLE);
  };
  const bool dispatches = status_.enabled.test(PITRACE_MAJOR_DISPATCH) && !paused;
  // Without threads the process has ended.
  const auto threads = dispatches && events.switch_fds.empty() ? targets() : std::vector<int>{};
  if (!threads.empty()) {
    if (const auto opened = open_switch_events(events, threads, plan(), features_); !opened) {
      events.switch_stacks = {};
      events.switch_fds.clear();
      events.switch_stack_fds.clear();
      return opened;
    }
    if (events.switch_stacks) reader_.watch(events.switch_stack_fds.front().get());
    switch_stacks_refused_ |= unwound_ && features_.kernel && !events.switch_stacks;
    for (const auto& fd : events.switch_stack_fds)
      converter_.add_switch_stacks(event_identifier(fd));
  }
  run(events.switch_stack_fds, dispatches);
  run(events.switch_fds, dispatches);
  run(events.tick_fds, status_.enabled.test(PITRACE_MAJOR_TPROF) && !paused);
  return {};
}

Status PerfCollector::run_samples(bool paused) {
  Status all;
  for (auto& [cpu, events] : events_)
    if (auto one = run_samples(events, paused); !one) all = std::move(one);
  return all;
}

void PerfCollector::put_snapshot(uint64_t time, std::unique_lock<std::mutex>& lock) {
  const auto cpus = buffers_.cpus();
  size_t turn = 0;
  ProcessFacts facts;
  SnapshotTime snapshot_time;
  for (const uint32_t pid : list_processes(config_.proc_path, static_cast<uint32_t>(scope_.pid))) {
    if (!read_process(config_.proc_path, pid, snapshot_time, facts)) continue;
    unreadable_processes_ += facts.maps_denied;
    incomplete_.add(facts);
    tell_resolver(facts, time);
    put_process(facts, time, config_.anonymous,
                buffers_.at(cpus[turn++ % cpus.size()], PITRACE_BUFFER_MTE));
    wake_section_reader();
    lock.unlock();
    lock.lock();
  }
}

void PerfCollector::tell_resolver(const ProcessFacts& facts, uint64_t time) {
  if (!unwound_) return;
  for (const ProcessMap& map : facts.maps) {
    pi_process_change change{};
    change.kind = PI_PROCESS_MAPPED;
    change.pid = facts.pid;
    change.time = time;
    change.address = map.start;
    change.bytes = map.size;
    change.offset = map.offset;
    change.inode = map.inode;
    change.path = map.name.c_str();
    unwinding_.change(change);
  }
}

Status PerfCollector::off() {
  // settle_hooks() takes its last records.
  (void)itrace_.off();
  {
    std::lock_guard lock(mutex_);
    if (hooks_) hooks_->publish({}, 0);
    for (auto& [cpu, events] : events_) {
      (void)run_samples(events, true);
      control_events(events.side_band_fds, PERF_EVENT_IOC_DISABLE);
    }
  }
  reader_.stop();
  std::lock_guard lock(mutex_);
  settle_hooks();
  if (hooks_) hooks_->end(hook_queue_.incoming());
  put_in_order(~0ull, ~0ull);
  for (auto& [cpu, events] : events_) close_cpu(events);
  events_.clear();
  status_.stop_time = trace_clock();
  status_.on = false;
  status_.suspended = false;
  return {};
}

Status PerfCollector::suspend() {
  std::lock_guard lock(mutex_);
  (void)run_samples(true);
  status_.suspended = true;
  publish_hooks();
  settle_hooks();
  buffers_.set_suspended(true);
  return {};
}

Status PerfCollector::resume() {
  std::lock_guard lock(mutex_);
  // The records in the rings were made while the trace was suspended.
  drain_to_the_last_tick();
  status_.suspended = false;
  buffers_.set_suspended(false);
  publish_hooks();
  return run_samples(false);
}

Status PerfCollector::discard() {
  std::lock_guard lock(mutex_);
  drain_to_the_last_tick();
  buffers_.reset(PITRACE_BUFFER_TRACE);
  return {};
}

// No record reports what was lost after the last record of a ring; the kernel's counter includes
// it.
void PerfCollector::close_cpu(CpuEvents& events) {
  read_rings(events);
  resolve_stacks(~0ull);
  put_ticks(events, ~0ull);
  using Groups = std::initializer_list<const std::vector<ProcessFd>*>;
  const auto rest = [this](Groups groups, uint64_t reported) {
    uint64_t all = 0;
    for (const auto* fds : groups) all += read_lost(*fds, features_);
    return all > reported ? all - reported : 0;
  };
  buffers_.at(events.cpu, PITRACE_BUFFER_MTE)
      .count_lost_by_source(rest({&events.side_band_fds}, events.side_band_lost));
  const std::vector<ProcessFd> none;
  buffers_.at(events.cpu, PITRACE_BUFFER_TRACE)
      .count_lost_by_source(rest({&events.tick_fds, &events.switch_fds,
                                  events.switch_stacks ? &none : &events.switch_stack_fds},
                                 events.ticks_lost));
}

void PerfCollector::follow_cpus() {
  const auto online = online_cpus();
  if (online.empty()) return;
  configured_cpus_ = configured_cpus();
  for (auto entry = events_.begin(); entry != events_.end();) {
    const uint32_t cpu = entry->first;
    if (std::find(online.begin(), online.end(), cpu) != online.end()) {
      ++entry;
      continue;
    }
    close_cpu(entry->second);
    entry = events_.erase(entry);
    notes_.push_back(fmt::format("CPU {} went offline during the trace.", cpu));
  }
  for (const uint32_t cpu : online) {
    if (events_.count(cpu) != 0) continue;
    if (const auto opened = open_cpu(cpu); !opened) {
      const std::string note =
          fmt::format("CPU {} came online and is not traced: {}", cpu, opened.error().message);
      if (std::find(notes_.begin(), notes_.end(), note) == notes_.end()) notes_.push_back(note);
      continue;
    }
    CpuEvents& events = events_.at(cpu);
    reader_.watch(events.side_band_fds.front().get());
    reader_.watch(events.tick_fds.front().get());
    control_events(events.side_band_fds, PERF_EVENT_IOC_ENABLE);
    if (const auto running = run_samples(events, status_.suspended); !running)
      notes_.push_back(running.error().message);
    notes_.push_back(
        fmt::format("CPU {} came online during the trace and is traced from then on.", cpu));
  }
}

}  // namespace pi::perfutil
