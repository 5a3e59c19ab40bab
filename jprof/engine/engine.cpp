// SPDX-License-Identifier: MIT
// Starts, stops and resets recordings.
#include "engine.h"

#include <sys/prctl.h>
#include <unistd.h>

#include <cerrno>
#include <new>
#include <string>

#include "meter_reads.h"
#include "probes.h"
#include "session.h"

namespace pi::callflow {

constinit State state;
constinit ThreadTree ignored_thread{.inside = not_recorded};

namespace {

// An exit whose entry was not seen changes the tree less than an entry whose exit was not seen, so
// the probe of entries is the last one that begins and the first one that ends.
void begin_probes(const Probes& probes) {
  leave_probe.store(probes.leave, std::memory_order_release);
  enter_probe.store(probes.enter, std::memory_order_release);
}

void end_probes() {
  enter_probe.store(no_probes().enter, std::memory_order_release);
  leave_probe.store(no_probes().leave, std::memory_order_release);
}

// Only while the control lock is held: nothing else reads retired recordings.
void free_retired() {
  Recording* recording = state.retired.exchange(nullptr, std::memory_order_acquire);
  while (recording) {
    Recording* next = recording->next_retired;
    recording->destroy();
    recording = next;
  }
}

bool has_reader(MeterKind kind) {
  return kind == MeterKind::reader || kind == MeterKind::reader_and_raw_cycles;
}

}  // namespace

pi::Status start(const Settings& settings) {
  const Meter& meter = settings.meter;
  if (meter.metrics.size() > max_metrics)
    return pi::Error{EINVAL, "At most " + std::to_string(max_metrics) + " metrics can be measured"};
  if (has_reader(meter.kind) && !meter.reader)
    return pi::Error{EINVAL, "The meter has no function that reads it"};
  const std::lock_guard lock(state.control);
  end_probes();
  free_retired();
  const Session* before = state.session.load(std::memory_order_relaxed);
  auto* session = new Session;
  session->settings = settings;
  session->shape = {meter.metrics.size(), meter.begin_thread != nullptr, settings.limits,
                    settings.event_log};
  session->number = before ? before->number + 1 : 1;
  session->before = before;
  // A probe of the recording before may still read: its meter's function remains, or is replaced by
  // another one.
  if (has_reader(meter.kind)) meter_reader = meter.reader;
  if (meter.kind == MeterKind::reader_and_raw_cycles) reader_values = meter.metrics.size() - 1;
  state.lost_threads = 0;
  state.session.store(session, std::memory_order_release);
  state.epoch.fetch_add(1, std::memory_order_release);
  begin_probes(probes_of(meter.kind));
  return {};
}

void stop() {
  const std::lock_guard lock(state.control);
  end_probes();
}

void reset() {
  const std::lock_guard lock(state.control);
  free_retired();
  state.lost_threads = 0;
  state.epoch.fetch_add(1, std::memory_order_release);
}

bool is_recording() {
  return enter_probe.load(std::memory_order_relaxed) != no_probes().enter;
}

void thread_ends(ThreadTree* mine) {
  if (!mine || mine == &ignored_thread) return;
  if (::prctl(PR_GET_NAME, mine->name) == 0) mine->named.store(true, std::memory_order_release);
  mine->ended.store(true, std::memory_order_release);
}

NodeId running_node(const ThreadTree* mine) {
  if (!mine || !mine->mine || mine->epoch != state.epoch.load(std::memory_order_relaxed)) return {};
  return {mine->mine->number, mine->mine->running_node()};
}

// Another thread of the parent may have held the lock.
void child_of_fork(ThreadTree*& mine) {
  end_probes();
  new (&state.control) std::mutex;
  state.threads = nullptr;
  state.retired = nullptr;
  state.thread_count = 0;
  state.lost_threads = 0;
  if (mine != &ignored_thread) mine = nullptr;
}

Ignored::Ignored(ThreadTree*& mine) : mine_(mine), before_(mine) {
  mine_ = &ignored_thread;
}

Ignored::~Ignored() {
  mine_ = before_;
}

}  // namespace pi::callflow
