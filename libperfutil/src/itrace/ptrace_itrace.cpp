// SPDX-License-Identifier: MIT
// ITrace without the module: by ptrace, for the user code of processes that are enabled one by one.
#include "ptrace_itrace.h"

#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>

#include <fmt/format.h>
#include <pi/decode.h>
#include <pi/module_advice.h>

#include "perfutil.h"

namespace pi::perfutil {
namespace {

// Bytes of records held from which on the collector is woken, and the tracer waits.
constexpr size_t wake_collector_bytes = 256u << 10;
constexpr size_t pause_tracer_bytes = 4u << 20;
constexpr uint64_t ring_of_flows = ~0ull;  // differs from all rings of user hooks

Error without_module(const char* what) {
  return {PU_ERROR_NOT_SUPPORTED,
          fmt::format("Without the pitrace module ITrace traces user code by ptrace, which "
                      "cannot {}. {}",
                      what, load_module_advice())};
}

}  // namespace

PtraceITrace::PtraceITrace(bool waits)
    : waits_(waits), ready_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {}

Status PtraceITrace::install(const pitrace_itrace& setup) {
  const std::lock_guard lock(control_mutex_);
  if (installed_) return itrace_is_installed();
  if ((setup.flags & PITRACE_ITRACE_NO_USER) != 0) return without_module("trace kernel code");
  if ((setup.flags & PITRACE_ITRACE_INTERRUPTS) != 0) return without_module("show interrupts");
  installed_ = true;
  setup_ = setup;
  pids_.clear();
  counts_ = std::make_shared<PtraceCounts>();
  const std::lock_guard queue_lock(queue_mutex_);
  note_.clear();
  return {};
}

Status PtraceITrace::remove() {
  {
    const std::lock_guard lock(control_mutex_);
    if (!installed_) return itrace_not_installed();
  }
  (void)off();
  const std::lock_guard lock(control_mutex_);
  installed_ = false;
  pids_.clear();
  return {};
}

Status PtraceITrace::enable(uint32_t first, uint32_t last) {
  if (first != last || first == 0) return without_module("trace processes without their ids");
  if (first == static_cast<uint32_t>(::getpid()))
    return without_module("trace the process that owns the trace");
  const std::lock_guard lock(control_mutex_);
  pids_.push_back(first);
  return tracer_ && !tracer_->is_stopping() ? tracer_->attach(first) : Status();
}

Status PtraceITrace::disable() {
  const std::lock_guard lock(control_mutex_);
  pids_.clear();
  return {};
}

Status PtraceITrace::on() {
  const std::lock_guard lock(control_mutex_);
  if (tracer_) return Error{PU_ERROR_INCORRECT_STATE, "ITrace is on already."};
  if (pids_.empty())
    return Error{PU_ERROR_INCORRECT_STATE,
                 "No process has been enabled. Enable one with ITraceEnablePid (swtrace it_install "
                 "-p) first."};
  auto tracer = std::make_unique<PtraceTracer>(
      [this](uint64_t time, std::span<const std::byte> record) { put(time, record); },
      setup_.flags | PITRACE_ITRACE_STEP | PITRACE_ITRACE_NO_KERNEL, counts_);
  {
    const std::lock_guard queue_lock(queue_mutex_);
    tracer_ = std::move(tracer);
  }
  // Some may have ended since they were enabled, but not all.
  Status all = Error{PU_ERROR_INCORRECT_STATE, "No enabled process is running any more."};
  for (const uint32_t pid : pids_) {
    const auto attached = tracer_->attach(pid);
    if (attached) all = {};
    if (attached || attached.error().code == PU_ERROR_INVALID_PARAMETER) continue;
    all = attached;
    break;
  }
  if (!all) (void)stop_tracer();
  return all;
}

Status PtraceITrace::off() {
  const std::lock_guard lock(control_mutex_);
  if (!tracer_) return Error{PU_ERROR_INCORRECT_STATE, "ITrace is not on."};
  return stop_tracer();
}

Status PtraceITrace::stop_tracer() {
  tracer_->ask_to_stop();
  taken_.notify_all();
  Status stopped = tracer_->stop();
  const std::lock_guard queue_lock(queue_mutex_);
  tracer_.reset();
  if (!stopped) note_ = stopped.error().message;
  return stopped;
}

std::string PtraceITrace::note() {
  const std::lock_guard lock(queue_mutex_);
  return note_;
}

Result<pitrace_itrace_info> PtraceITrace::info() {
  pitrace_itrace_info now{};
  const std::lock_guard lock(control_mutex_);
  now.installed = installed_;
  now.flags = setup_.flags;
  now.on = tracer_ && !tracer_->is_stopping();
  now.threads = counts_->threads;
  now.untraced = counts_->untraced;
  now.steps = counts_->steps;
  now.branches = counts_->branches;
  now.gaps = counts_->gaps;
  return now;
}

bool PtraceITrace::is_installed() {
  const std::lock_guard lock(control_mutex_);
  return installed_;
}

// ---- records ----

// Called in the tracer's thread.
void PtraceITrace::put(uint64_t time, std::span<const std::byte> record) {
  std::unique_lock lock(queue_mutex_);
  const auto has_room = [this] {
    return queue_.bytes.size() < pause_tracer_bytes || tracer_->is_stopping();
  };
  if (queue_.bytes.size() >= wake_collector_bytes) ::eventfd_write(ready_.get(), 1);
  // A stop may be requested without a notification that this wait would receive.
  constexpr auto look_again = std::chrono::milliseconds(100);
  while (waits_ && !has_room()) taken_.wait_for(lock, look_again);
  queue_.hooks.push_back(
      {ring_of_flows, time, 0, static_cast<uint32_t>(record.size()), queue_.bytes.size()});
  queue_.bytes.insert(queue_.bytes.end(), record.begin(), record.end());
}

void PtraceITrace::take(const std::bitset<256>& majors, uint32_t cpu, uint64_t room,
                        HookBatch& batch) {
  eventfd_t ignored;
  (void)::eventfd_read(ready_.get(), &ignored);
  const std::lock_guard lock(queue_mutex_);
  for (; first_ < queue_.hooks.size(); ++first_) {
    FoundHook hook = queue_.hooks[first_];
    const auto bytes = queue_.record(hook);
    if (!majors.test(RecordView(bytes).major() & 0xff)) continue;
    if (hook.length > room) break;
    room -= hook.length;
    hook.cpu = cpu;
    hook.place = batch.bytes.size();
    batch.hooks.push_back(hook);
    batch.bytes.insert(batch.bytes.end(), bytes.begin(), bytes.end());
  }
  if (first_ < queue_.hooks.size()) return;
  queue_.hooks.clear();
  queue_.bytes.clear();
  first_ = 0;
  taken_.notify_all();
}

void PtraceITrace::end() {
  const std::lock_guard lock(queue_mutex_);
  if (tracer_) tracer_->ask_to_stop();
}

}  // namespace pi::perfutil
