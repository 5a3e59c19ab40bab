// SPDX-License-Identifier: MIT
// The source that needs no module: perf events of every CPU, and /proc for what runs already.
#include "perf_collector.h"

#include <sys/eventfd.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <utility>

#include <fmt/format.h>
#include <pi/user_socket.h>

#include "events/event_refusal.h"
#include "hooks/hook_socket.h"
#include "source/major_set.h"
#include "system/system_facts.h"

namespace pi::perfutil {

PerfCollector::PerfCollector(const TraceConfig& config, const PerfScope& scope)
    : config_(config),
      scope_(scope),
      buffers_(config.trace_bytes, config.mte_bytes, config.mode, config.section_bytes),
      converter_(config.anonymous, config.proc_path),
      section_event_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
      itrace_(config.mode == PITRACE_MODE_CONTINUOUS) {
  features_.kernel = scope.kernel;
  status_.scope = scope.system ? TRACE_SCOPE_SYSTEM : TRACE_SCOPE_PROCESS;
  status_.pid = config.pid;
  status_.trace_bytes = config.trace_bytes;
  status_.mte_bytes = config.mte_bytes;
  status_.tick_ns = tick_period_ns(status_.rate);
}

PerfCollector::~PerfCollector() {
  (void)itrace_.off();
  if (status_.on) (void)off();
}

Result<std::unique_ptr<Collector>> PerfCollector::create(const TraceConfig& config) {
  const auto scope = decide_perf_scope(config);
  if (!scope) return scope.error();
  std::unique_ptr<PerfCollector> collector(new PerfCollector(config, *scope));
  errno = 0;
  const auto cpus = collector->online_cpus();
  if (cpus.empty()) return collector->no_cpu_list(errno);
  for (const uint32_t cpu : cpus)
    if (const auto added = collector->buffers_.add_cpu(cpu); !added) return added.error();
  // Open the events that on() will need now, so that init() reports a problem that the user can
  // fix.
  const auto tried = collector->open_everything();
  collector->events_.clear();
  if (!tried) return tried.error();
  collector->serve_hooks();
  return std::unique_ptr<Collector>(std::move(collector));
}

// A trace works without user hooks: the reason for their absence becomes a note.
void PerfCollector::serve_hooks() {
  const std::string path = config_.hook_path.empty() ? hook_socket_path() : config_.hook_path;
  // Large enough for threads that write without a pause, until the reader runs.
  const auto ring_bytes = std::clamp(std::bit_floor(static_cast<uint32_t>(config_.trace_bytes / 8)),
                                     min_hook_ring_bytes, max_hook_ring_bytes);
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
    hooks_->publish(status_.on && !status_.suspended ? status_.enabled : std::bitset<256>(),
                    status_.on ? status_.interval_id : 0);
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
  // The records in the rings were made under the old setting.
  if (status_.on) drain_to_the_last_tick();
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
  // The kernel drops the count of the running period when it gets a new one.
  if ((event.flags & PITRACE_EVENT_RANDOM) != 0)
    return Error{
        PU_ERROR_NOT_SUPPORTED,
        "perf cannot choose the periods of an event at random. Omit this option, or use the "
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
  unwinding_.set_depth(stacks.depth);
  converter_.set_stacks(stacks, max_stack_frames(stacks));
  return {};
}

Status PerfCollector::set_stack_resolver(const StackCopies& copies) {
  std::lock_guard lock(mutex_);
  unwinding_.set(copies);
  return {};
}

std::vector<std::string> PerfCollector::cannot_see() {
  std::lock_guard lock(mutex_);
  auto list = perf_blind_spots(scope_, status_);
  if (itrace_.is_installed() || flows_)
    list.push_back(
        "Instructions of the kernel: without the module ITrace traces user code only, by ptrace. "
        "A system call or an exception is a gap, and the CPU of a traced thread is not known.");
  return list;
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
    if (status_.on) drain_to_the_last_tick();
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

std::string PerfCollector::frame_names(uint32_t& known) {
  const std::lock_guard lock(mutex_);
  return unwinding_.frame_names(known);
}

void PerfCollector::forget_frame_names() {
  const std::lock_guard lock(mutex_);
  unwinding_.begin();
}

std::vector<std::string> PerfCollector::notes() {
  std::lock_guard lock(mutex_);
  auto notes = notes_;
  if (!hook_note_.empty()) notes.push_back(hook_note_);
  for (auto& note : unwinding_.notes()) notes.push_back(std::move(note));
  if (switch_stacks_lost_ != 0)
    notes.push_back(
        fmt::format("The stacks of {} dispatch(es) are missing, since the recorder had no time for "
                    "their copies.",
                    switch_stacks_lost_));
  if (switch_stacks_refused_)
    notes.emplace_back(
        "Dispatches have no stacks, since the limit of locked memory leaves no space for their "
        "copies: raise it with 'sysctl kernel.perf_event_mlock_kb=16384' or 'ulimit -l'.");
  if (auto note = itrace_.note(); !note.empty()) notes.push_back(std::move(note));
  if (hooks_ && hooks_->refused() != 0)
    notes.push_back(fmt::format("There was no memory for the user hooks of {}; they are missing.",
                                count_of_processes(hooks_->refused())));
  if (unreadable_processes_ != 0) notes.push_back(unreadable_processes_note(unreadable_processes_));
  for (auto& note : incomplete_.notes()) notes.push_back(std::move(note));
  return notes;
}

}  // namespace pi::perfutil
