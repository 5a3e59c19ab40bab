// SPDX-License-Identifier: MIT
// The source that needs no module: perf events of every CPU and a look into /proc.
#include "perf_collector.h"

#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <new>
#include <utility>

#include <fmt/format.h>

#include "events.h"
#include "hook_socket.h"
#include "major_set.h"
#include "proc_snapshot.h"
#include "startup_records.h"
#include "system_facts.h"
#include "text.h"

namespace pi::perfutil {

PerfCollector::PerfCollector(const TraceConfig& config, const PerfScope& scope)
    : config_(config),
      scope_(scope),
      buffers_(config.trace_bytes, config.mte_bytes, config.mode, config.section_bytes),
      converter_(config.anonymous, config.proc_path),
      section_event_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  features_.kernel = scope.kernel;
  status_.scope = scope.system ? TRACE_SCOPE_SYSTEM : TRACE_SCOPE_PROCESS;
  status_.pid = scope.pid;
  status_.trace_bytes = config.trace_bytes;
  status_.mte_bytes = config.mte_bytes;
  status_.tick_ns = tick_period_ns(status_.rate);
}

PerfCollector::~PerfCollector() {
  if (status_.on) (void)off();
}

Result<std::unique_ptr<Collector>> PerfCollector::create(const TraceConfig& config) {
  const auto scope = decide_perf_scope(config);
  if (!scope) return scope.error();
  std::unique_ptr<PerfCollector> collector(new PerfCollector(config, *scope));
  const auto cpus = collector->online_cpus();
  if (cpus.empty())
    return Error{PU_ERROR_INTERNAL,
                 fmt::format("'{}' does not tell which CPUs are online.", config.online_path)};
  for (const uint32_t cpu : cpus)
    if (const auto added = collector->buffers_.add_cpu(cpu); !added) return added.error();
  // What on() will need is tried now, so that init fails where it can be mended.
  const auto tried = collector->open_everything();
  collector->events_.clear();
  if (!tried) return tried.error();
  collector->serve_hooks();
  return std::unique_ptr<Collector>(std::move(collector));
}

// Without user hooks a trace is still a trace: what is in their way becomes a note.
void PerfCollector::serve_hooks() {
  const std::string path = config_.hook_path.empty() ? hook_socket_path() : config_.hook_path;
  // As large as threads that write without a pause may need until the reader runs.
  const auto ring_bytes = std::clamp(std::bit_floor(static_cast<uint32_t>(config_.trace_bytes / 8)),
                                     hook_ring_bytes_least, hook_ring_bytes_most);
  Status ready;
  if (path == user_socket_directory() + "/hooks")
    ready = private_directory(user_socket_directory());
  if (ready) {
    auto server =
        HookServer::start(path, ring_bytes, [this] { guarded(&PerfCollector::drain_all); });
    if (server) hooks_ = std::move(*server);
    if (!server) ready = server.error();
  }
  if (!ready) hook_note_ = "User hooks are not recorded: " + ready.error().message;
}

void PerfCollector::publish_hooks() {
  if (hooks_)
    hooks_->publish(status_.on && !status_.suspended ? status_.enabled : std::bitset<256>());
}

std::vector<uint32_t> PerfCollector::online_cpus() const {
  return parse_cpu_list(read_text(config_.online_path).value_or(""));
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
  plan.stack_most = stack_frames_most(plan.stacks);
  return plan;
}

Error PerfCollector::process_gone() const {
  return {PU_ERROR_INVALID_PARAMETER,
          fmt::format("Process {} does not exist any more; name one that runs.", scope_.pid)};
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
  for (const uint32_t cpu : online_cpus()) {
    const auto opened = open_cpu(cpu);
    if (opened) continue;
    // A CPU that has just gone offline is no failure.
    const auto online = online_cpus();
    if (std::find(online.begin(), online.end(), cpu) != online.end()) return opened.error();
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
  unreadable_processes_ = 0;
  held_.clear();
  hook_queue_.reset();
  auto started = reader_.prepare();
  if (started) started = open_everything();
  if (started) started = begin_recording(lock);
  if (!started) events_.clear();
  return started;
}

// Order matters: the snapshot's time lies before the side band begins, the side band begins
// before /proc is read, and the rings are drained after. So whatever happens meanwhile is
// recorded with a later time and is harmless to replay on top of the snapshot. Ticks come last.
Status PerfCollector::begin_recording(std::unique_lock<std::mutex>& lock) {
  if (events_.empty())
    return Error{PU_ERROR_INTERNAL, "No CPU could be traced: none stayed online."};
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

// What tells of switches costs something at each of them, also while it is stopped, so that it is
// not even opened before somebody wants it.
Status PerfCollector::run_samples(CpuEvents& events, bool paused) {
  const auto run = [](const std::vector<UniqueFd>& fds, bool wanted) {
    control_events(fds, wanted ? PERF_EVENT_IOC_ENABLE : PERF_EVENT_IOC_DISABLE);
  };
  const bool dispatches = status_.enabled.test(PITRACE_MAJOR_DISPATCH) && !paused;
  // Without threads the process has ended.
  const auto threads = dispatches && events.switch_fds.empty() ? targets() : std::vector<int>{};
  if (!threads.empty()) {
    if (const auto opened = open_switch_events(events, threads, plan(), features_); !opened) {
      events.switch_fds.clear();
      events.switch_stack_fds.clear();
      return opened;
    }
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
  for (const uint32_t pid : list_processes(config_.proc_path, static_cast<uint32_t>(scope_.pid))) {
    if (!read_process(config_.proc_path, pid, facts)) continue;
    unreadable_processes_ += facts.maps_denied;
    put_process(facts, time, config_.anonymous,
                buffers_.at(cpus[turn++ % cpus.size()], PITRACE_BUFFER_MTE));
    tell_sections();
    lock.unlock();
    lock.lock();
  }
}

Status PerfCollector::off() {
  {
    std::lock_guard lock(mutex_);
    if (hooks_) hooks_->publish({});
    for (auto& [cpu, events] : events_) {
      (void)run_samples(events, true);
      control_events(events.side_band_fds, PERF_EVENT_IOC_DISABLE);
    }
  }
  reader_.stop();
  std::lock_guard lock(mutex_);
  settle_hooks();
  if (hooks_) hooks_->end(hook_queue_.incoming());
  put_in_order(~0ull);
  for (auto& [cpu, events] : events_) close_cpu(events);
  events_.clear();
  status_.stop_time = trace_clock();
  status_.on = false;
  status_.suspended = false;
  return {};
}

// The ticks are read, but wait for put_in_order().
void PerfCollector::read_rings(CpuEvents& events) {
  UserBuffer& mte = buffers_.at(events.cpu, PITRACE_BUFFER_MTE);
  HeldTicks& held = held_[events.cpu];
  bool sane = events.side_band.drain([&](std::span<const std::byte> record) {
    converter_.convert_side_band(record, mte);
    events.side_band_lost += converter_.lost_in_last();
  });
  sane &= events.ticks.drain([&](std::span<const std::byte> record) {
    held.hold(PerfConverter::tick_time(record), record);
  });
  if (!sane)
    notes_.push_back(
        fmt::format("A perf ring of CPU {} was damaged; records of it are missing.", events.cpu));
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

// All ticks that were read are older than horizon. A hook that is younger may not be the oldest
// that there is; it waits for the next time.
void PerfCollector::put_in_order(uint64_t horizon) {
  hook_queue_.deliver(
      horizon, [this](const FoundHook& hook, std::span<const std::byte> record, uint64_t& time) {
        if (const auto events = events_.find(hook.cpu); events != events_.end())
          put_ticks(events->second, hook.time);
        trace_buffer_of(hook.cpu).put_record(time, record);
      });
  for (auto& [cpu, events] : events_) put_ticks(events, ~0ull);
  HookBatch& batch = hook_queue_.incoming();
  trace_buffer_of(events_.empty() ? 0 : events_.begin()->first)
      .count_lost_by_source(std::exchange(batch.lost, 0));
  if (std::exchange(batch.damaged, 0) != 0)
    notes_.push_back(
        "A process has damaged the memory that it writes user hooks to; the rest of one thread's "
        "hooks is missing.");
}

uint32_t PerfCollector::cpu_limit() {
  return static_cast<uint32_t>(::sysconf(_SC_NPROCESSORS_CONF));
}

void PerfCollector::drain_all() {
  if (!status_.on) return;
  for (auto& [cpu, events] : events_) read_rings(events);
  const uint64_t horizon = trace_clock();
  if (hooks_) hooks_->collect(cpu_limit(), hook_queue_.incoming());
  put_in_order(horizon);
  tell_sections();
}

void PerfCollector::settle_hooks() {
  for (auto& [cpu, events] : events_) read_rings(events);
  if (hooks_) hooks_->settle(cpu_limit(), hook_queue_.incoming());
  put_in_order(~0ull);
  tell_sections();
}

void PerfCollector::tell_sections() {
  if (buffers_.take_section_ready()) ::eventfd_write(section_event_.get(), 1);
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
  // What the rings hold came while nothing was wanted.
  drain_all();
  status_.suspended = false;
  buffers_.set_suspended(false);
  publish_hooks();
  return run_samples(false);
}

Status PerfCollector::discard() {
  std::lock_guard lock(mutex_);
  drain_all();
  buffers_.reset(PITRACE_BUFFER_TRACE);
  return {};
}

// What was lost after the ring's last record was told by no record; the kernel's count has it.
void PerfCollector::close_cpu(CpuEvents& events) {
  read_rings(events);
  put_ticks(events, ~0ull);
  using Groups = std::initializer_list<const std::vector<UniqueFd>*>;
  const auto rest = [this](Groups groups, uint64_t told) {
    uint64_t all = 0;
    for (const auto* fds : groups) all += read_lost(*fds, features_);
    return all > told ? all - told : 0;
  };
  buffers_.at(events.cpu, PITRACE_BUFFER_MTE)
      .count_lost_by_source(rest({&events.side_band_fds}, events.side_band_lost));
  buffers_.at(events.cpu, PITRACE_BUFFER_TRACE)
      .count_lost_by_source(rest({&events.tick_fds, &events.switch_fds, &events.switch_stack_fds},
                                 events.ticks_lost));
}

void PerfCollector::follow_cpus() {
  const auto online = online_cpus();
  if (online.empty()) return;
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

void PerfCollector::guarded(void (PerfCollector::*work)()) {
  std::lock_guard lock(mutex_);
  try {
    (this->*work)();
  } catch (const std::bad_alloc&) {
    // Nothing that needs memory may be done here; what was not read stays in the rings, and what
    // they drop is counted by the kernel.
  }
}

Status PerfCollector::enable(uint32_t major) {
  if (const auto possible = refuse_unseen(major); !possible) return possible;
  std::unique_lock lock(mutex_);
  return apply_enabled(status_.enabled | majors_meant(major), lock);
}

Status PerfCollector::disable(uint32_t major) {
  std::unique_lock lock(mutex_);
  return apply_enabled(status_.enabled & ~majors_meant(major), lock);
}

Status PerfCollector::apply_enabled(const std::bitset<256>& enabled,
                                    std::unique_lock<std::mutex>& lock) {
  const auto changed = status_.enabled ^ enabled;
  // What the rings hold was recorded under the old setting.
  if (status_.on) drain_all();
  status_.enabled = enabled;
  converter_.set_enabled(enabled);
  publish_hooks();
  if (!status_.on) return {};
  if (changed.test(PITRACE_MAJOR_MTE) && enabled.test(PITRACE_MAJOR_MTE))
    put_snapshot(trace_clock(), lock);
  auto running = run_samples(status_.suspended);
  if (running) return running;
  status_.enabled.reset(PITRACE_MAJOR_DISPATCH);
  converter_.set_enabled(status_.enabled);
  return running;
}

Status PerfCollector::set_rate(uint32_t rate) {
  std::lock_guard lock(mutex_);
  status_.rate = rate;
  status_.tick_ns = tick_period_ns(rate);
  status_.tick = {};
  return {};
}

Status PerfCollector::set_event(const TickEvent& event) {
  // A new period makes the kernel forget what it has counted of the old one.
  if ((event.flags & PITRACE_EVENT_RANDOM) != 0)
    return Error{PU_ERROR_NOT_SUPPORTED,
                 "perf cannot draw the periods of an event at random; leave that out, or use the "
                 "pitrace module."};
  if (!scope_.kernel && (event.flags & PITRACE_EVENT_NO_USER) != 0)
    return refused_event(EACCES, event.name);
  std::lock_guard lock(mutex_);
  const auto threads = targets();
  if (threads.empty()) return process_gone();
  const TickEvent before = std::exchange(status_.tick, event);
  const auto cpus = online_cpus();
  EventFeatures features = features_;
  const auto tried = open_cpu_events(cpus.empty() ? 0 : cpus.front(), threads, plan(), features);
  if (!tried) {
    status_.tick = before;
    return tried.error();
  }
  status_.tick_ns = 0;
  return {};
}

Status PerfCollector::set_stacks(const StackChoice& stacks) {
  std::lock_guard lock(mutex_);
  status_.stacks = stacks;
  converter_.set_stacks(stacks, stack_frames_most(stacks));
  return {};
}

std::vector<std::string> PerfCollector::cannot_see() {
  std::lock_guard lock(mutex_);
  return perf_blind_spots(scope_, status_);
}

Result<CollectorStatus> PerfCollector::status() {
  std::lock_guard lock(mutex_);
  CollectorStatus copy = status_;
  copy.full = buffers_.full();
  copy.throttled = converter_.throttled();
  return copy;
}

std::vector<BufferView> PerfCollector::buffers() {
  std::lock_guard lock(mutex_);
  return buffers_.unread();
}

void PerfCollector::copy_trace(const std::function<void(BufferCopy)>& take) {
  std::vector<uint32_t> cpus;
  {
    std::lock_guard lock(mutex_);
    if (status_.on) drain_all();
    cpus = buffers_.cpus();
  }
  for (const uint32_t cpu : cpus) {
    BufferCopy copy;
    {
      std::lock_guard lock(mutex_);
      copy = buffers_.at(cpu, PITRACE_BUFFER_TRACE).copy();
    }
    take(std::move(copy));
  }
}

std::vector<BufferView> PerfCollector::unread() {
  std::lock_guard lock(mutex_);
  eventfd_t ignored;
  (void)::eventfd_read(section_event_.get(), &ignored);
  return buffers_.unread();
}

void PerfCollector::consumed(const BufferView& view, size_t bytes) {
  std::lock_guard lock(mutex_);
  buffers_.at(view.cpu, view.kind).consume(view.position + bytes);
}

std::vector<std::string> PerfCollector::notes() {
  std::lock_guard lock(mutex_);
  auto notes = notes_;
  if (!hook_note_.empty()) notes.push_back(hook_note_);
  if (hooks_ && hooks_->refused() != 0)
    notes.push_back(
        fmt::format("{} process(es) could not be given memory for user hooks; what they "
                    "wrote is missing.",
                    hooks_->refused()));
  if (unreadable_processes_ != 0)
    notes.push_back(
        fmt::format("Of {} process(es) this user may not read the mappings: code they "
                    "had mapped before the trace has no names.",
                    unreadable_processes_));
  return notes;
}

}  // namespace pi::perfutil
