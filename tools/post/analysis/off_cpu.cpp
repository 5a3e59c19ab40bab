// SPDX-License-Identifier: MIT
// Computes how long each thread ran, was runnable or blocked, where it blocked, and its wakers.
#include "off_cpu.h"

#include <algorithm>

namespace post {
namespace {

// By PITRACE_STATE_*; unknown states are OTHER.
LeaveReason reason_of(uint32_t state) {
  if (state == (PITRACE_STATE_RUNNABLE | PITRACE_STATE_PREEMPTED)) return preempted;
  return state <= PITRACE_STATE_BLOCKED ? state : PITRACE_STATE_OTHER;
}

bool is_runnable(LeaveReason reason) {
  return reason == PITRACE_STATE_RUNNABLE || reason == preempted;
}

}  // namespace

const char* reason_word(LeaveReason reason) {
  constexpr const char* words[leave_reasons] = {
      "yielded", "sleeping", "uninterruptible", "stopped", "dead",
      "parked",  "idle",     "other",           "blocked", "preempted"};
  return words[reason < leave_reasons ? reason : PITRACE_STATE_OTHER];
}

void ThreadTimes::add(const ThreadTimes& other) {
  running += other.running;
  runnable += other.runnable;
  blocked += other.blocked;
  unknown += other.unknown;
  cut += other.cut;
  dispatches += other.dispatches;
  migrations += other.migrations;
  wakeups += other.wakeups;
}

void WaitTimes::add(const WaitTimes& other) {
  count += other.count;
  blocked += other.blocked;
  runnable += other.runnable;
  cut += other.cut;
}

OffCpu::OffCpu(Processes& processes, Symbolizer& symbolizer, StringTable& names, Options options)
    : processes_(processes),
      names_(names),
      options_(options),
      frames_(symbolizer, names, options.frames, options.source, options.cache_entries) {}

// After missing records the thread that runs on this CPU is unknown until the next dispatch. It is
// also unknown whether a waiting thread ran there meanwhile.
void OffCpu::check_gap(const Stream& stream, bool new_gap) {
  Cpu& cpu = cpus_[stream.cpu()];
  if (stream.breaks() == cpu.breaks && !new_gap) return;
  if (stream.breaks() != cpu.breaks) ++gaps_;
  cpu.breaks = stream.breaks();
  last_gap_ = end_;
  if (cpu.running < first_special && threads_[cpu.running].thread_state == ThreadState::running) {
    State& state = threads_[cpu.running];
    settle(state, std::max(state.since, cpu.last_time));
    state.thread_state = ThreadState::unknown;
  }
  set_running(stream.cpu(), no_thread, cpu.last_time);
}

void OffCpu::set_running(uint32_t cpu, uint32_t thread, uint64_t time) {
  cpus_[cpu].running = thread;
  cpus_[cpu].switched = time;
  if (options_.intervals && begun_) options_.intervals->dispatch(cpu, thread, time);
}

// Clears the sums; the current state of each thread stays known.
void OffCpu::begin(uint64_t time) {
  begun_ = true;
  begin_ = time;
  for (Wait& wait : waits_) wait.times = {};
  for (WokenSum& sum : woken_) sum = {};
  for (State& state : threads_) {
    state.facts.times = {};
    const bool off =
        state.thread_state == ThreadState::runnable || state.thread_state == ThreadState::blocked;
    if (off && state.wait != no_wait) ++waits_[state.wait].times.count;
  }
  cpus_.for_each([&](uint32_t number, const Cpu& cpu) {
    if (cpu.running != no_thread) set_running(number, cpu.running, time);
  });
  stacks_ = {};
  dispatches_ = idle_dispatches_ = wakeups_ = gaps_ = unreported_ = contradicted_ =
      missing_wakeups_ = 0;
}

void OffCpu::add(const Stream& stream, bool selected, const pi::UserFrames* user_frames) {
  const pi::RecordView& record = stream.record();
  const uint64_t time = stream.time();
  if (pi::is_time(record) && record.major() != PITRACE_MAJOR_TIME_FAKE) return;
  if (selected && !begun_) begin(time);
  over_ = over_ || (begun_ && !selected);
  if (over_) return;
  end_ = time;
  // Records before the beginning of a buffer in wrap-around (overwrite) mode are missing, too.
  check_gap(stream, record.major() == PITRACE_MAJOR_TIME_FAKE);
  user_frames_ = user_frames;
  if (record.major() == PITRACE_MAJOR_DISPATCH) take(stream);
  cpus_[stream.cpu()].last_time = time;
}

void OffCpu::take(const Stream& stream) {
  const pi::RecordView& record = stream.record();
  pi::Dispatch dispatched;
  pi::Wakeup wakeup;
  pi::Migration migration;
  pi::Running running;
  if (pi::decode_dispatch(record, dispatched)) {
    dispatch(stream, dispatched);
  } else if (pi::decode_wakeup(record, wakeup)) {
    ++wakeups_;
    if (wakeup.tid != 0) wake(wakeup, stream.time());
  } else if (pi::decode_migration(record, migration)) {
    if (migration.tid != 0) ++threads_[find(migration.tid, stream.time())].facts.times.migrations;
  } else if (pi::decode_running(record, running)) {
    find_running(stream, running);
  }
}

// The switch to this thread is missing. Since the last one on this CPU it is not known when the
// thread of that one left, and when this one came.
void OffCpu::find_running(const Stream& stream, const pi::Running& running) {
  const uint32_t cpu = stream.cpu();
  const uint64_t time = stream.time();
  const uint32_t before = cpus_[cpu].running;
  const uint32_t now = running.tid == 0 ? idle : find(running.tid, running.pid, time);
  if (now == before) return;
  if (before != no_thread) ++unreported_;
  uint64_t since = cpus_[cpu].switched;
  if (before < first_special && threads_[before].thread_state == ThreadState::running) {
    settle(threads_[before], threads_[before].since);
    threads_[before].thread_state = ThreadState::unknown;
  }
  if (now != idle) {
    State& thread = threads_[now];
    judge(thread, time);
    if (thread.thread_state == ThreadState::running) {
      if (thread.facts.selected) ++contradicted_;
      if (cpus_[thread.cpu].running == now) set_running(thread.cpu, no_thread, time);
      since = thread.since;
    }
    // It has waited until it could have come to this CPU.
    settle(thread, std::min(std::max(since, thread.since), time));
    thread.thread_state = ThreadState::unknown;
    settle(thread, time);
    thread.thread_state = ThreadState::running;
    thread.wait = no_wait;
    thread.early = PathTree::root;
    thread.cpu = cpu;
    relabel(thread);
  }
  set_running(cpu, now, time);
}

void OffCpu::dispatch(const Stream& stream, const pi::Dispatch& dispatch) {
  ++dispatches_;
  const uint64_t time = stream.time();
  const uint32_t before = cpus_[stream.cpu()].running;
  if (before < first_special) leave(before, stream.record(), dispatch.state, time);
  uint32_t next = idle;
  if (dispatch.tid != 0) {
    next = find(dispatch.tid, dispatch.pid, time);
    enter(next, stream.cpu(), time);
  } else {
    ++idle_dispatches_;
  }
  set_running(stream.cpu(), next, time);
}

void OffCpu::leave(uint32_t index, const pi::RecordView& record, uint32_t state, uint64_t time) {
  State& thread = threads_[index];
  if (thread.thread_state != ThreadState::running) return;  // the id now belongs to another thread
  const LeaveReason reason = reason_of(state);
  if (options_.intervals) options_.intervals->leave(index, time, reason);
  settle(thread, time);
  pi::StackView stack = options_.stacks ? pi::stack_of_dispatch(record) : pi::StackView();
  stack.join(user_frames_);
  const Process& process = processes_.at(thread.facts.pid, time);
  const JudgedStack judged = frames_.judge(stack, true, process, time);
  if (thread.facts.selected) stacks_.add(record, 2, stack, judged);
  if (reason == PITRACE_STATE_DEAD || (thread.exiting && !is_runnable(reason))) {
    thread.thread_state = ThreadState::ended;
    return;
  }
  uint32_t place = PathTree::root;
  if (stack.exists())
    place = frames_.put(stack_tree_, PathTree::root, stack, judged, true, process, time);
  thread.thread_state = is_runnable(reason) ? ThreadState::runnable : ThreadState::blocked;
  thread.wait = wait_of(index, place, reason);
  ++waits_[thread.wait].times.count;
}

void OffCpu::enter(uint32_t index, uint32_t cpu, uint64_t time) {
  State& thread = threads_[index];
  judge(thread, time);
  if (thread.thread_state == ThreadState::running) {
    // The switch-out is missing: the end of this run is unknown.
    if (thread.facts.selected) ++contradicted_;
    if (cpus_[thread.cpu].running == index) set_running(thread.cpu, no_thread, time);
    thread.thread_state = ThreadState::unknown;
  }
  // Another CPU woke it while it was being switched out: it was not blocked at all.
  if (thread.thread_state == ThreadState::blocked && thread.early != PathTree::root) {
    thread.thread_state = ThreadState::runnable;
    thread.chain = thread.early;
    ++thread.facts.times.wakeups;
    if (options_.intervals && begun_)
      options_.intervals->wake(index, chain_at(thread.early).front(),
                               std::max(thread.since, begin_));
  }
  thread.early = PathTree::root;
  const bool blocked = thread.thread_state == ThreadState::blocked;
  if (settle(thread, time) && blocked && thread.facts.selected) ++missing_wakeups_;
  thread.thread_state = ThreadState::running;
  thread.wait = no_wait;
  thread.cpu = cpu;
  ++thread.facts.times.dispatches;
  relabel(thread);
}

void OffCpu::wake(const pi::Wakeup& wakeup, uint64_t time) {
  const uint32_t waker = wakeup.by_interrupt ? by_interrupt
                         : wakeup.waker == 0 ? idle
                                             : find(wakeup.waker, time);
  const uint32_t index = find(wakeup.tid, time);
  State& thread = threads_[index];
  const uint32_t chain = chain_of(waker);
  // A wake-up of a running or runnable thread has no effect, unless the thread was about to block:
  // enter() then uses it.
  if (thread.thread_state == ThreadState::running) thread.early = chain;
  if (thread.thread_state != ThreadState::blocked && thread.thread_state != ThreadState::unknown)
    return;
  const uint64_t blocked_before = thread.facts.times.blocked;
  const bool blocked = thread.thread_state == ThreadState::blocked;
  const bool counts = settle(thread, time) && blocked;
  ++thread.facts.times.wakeups;
  if (options_.intervals && begun_) options_.intervals->wake(index, waker, time);
  thread.thread_state = ThreadState::runnable;
  thread.chain = chain;
  thread.early = PathTree::root;
  if (!counts) return;
  const uint32_t place = woken_tree_.child(woken_tree_.child(PathTree::root, thread.wait), chain);
  if (woken_.size() <= place) woken_.resize(place + 1);
  WokenSum& sum = woken_[place];
  sum.wait = thread.wait;
  ++sum.count;
  sum.blocked += thread.facts.times.blocked - blocked_before;
}

// Adds the time up to now to the thread's current state; false when that state is unknown.
bool OffCpu::settle(State& state, uint64_t time, bool cut) {
  // A thread can have begun before the first record of a trace buffer.
  const uint64_t from = std::min(std::max(state.since, begin_), time);
  const bool hidden = state.since < last_gap_;
  state.since = std::max(state.since, time);
  ThreadState settled = state.thread_state;
  if (settled == ThreadState::ended) return false;
  if (hidden && settled != ThreadState::running) settled = ThreadState::unknown;
  if (options_.intervals && begun_ && from < time)
    options_.intervals->add(static_cast<uint32_t>(&state - threads_.data()), settled, state.cpu,
                            state.wait, from, time);
  return add_times(state, settled, time - from, cut);
}

bool OffCpu::add_times(State& state, ThreadState settled, uint64_t passed, bool cut) {
  ThreadTimes& times = state.facts.times;
  if (settled == ThreadState::unknown) {
    times.unknown += passed;
    return false;
  }
  if (settled == ThreadState::running) {
    times.running += passed;
    return true;
  }
  WaitTimes nowhere;  // of a thread whose switch-out is not in the trace
  WaitTimes& wait = state.wait == no_wait ? nowhere : waits_[state.wait].times;
  const bool runnable = settled == ThreadState::runnable;
  (runnable ? times.runnable : times.blocked) += passed;
  (runnable ? wait.runnable : wait.blocked) += passed;
  if (cut) times.cut += passed;
  if (cut) wait.cut += passed;
  return true;
}

uint32_t OffCpu::begin_thread(uint32_t tid, uint64_t since) {
  const uint32_t index = static_cast<uint32_t>(threads_.size());
  State& state = threads_.emplace_back();
  state.facts.tid = tid;
  state.since = since;
  by_tid_[tid] = index;
  return index;
}

// The current thread with that id; a new one when the last one ended.
uint32_t OffCpu::find(uint32_t tid, uint64_t time) {
  const auto known = by_tid_.find(tid);
  if (known == by_tid_.end()) return begin_thread(tid, std::min(begin_, time));
  const State& state = threads_[known->second];
  return state.thread_state == ThreadState::ended ? begin_thread(tid, state.since) : known->second;
}

uint32_t OffCpu::find(uint32_t tid, uint32_t pid, uint64_t time) {
  uint32_t index = find(tid, time);
  // Another process: this is another thread, and the end of the first one is not in the trace.
  if (threads_[index].facts.has_pid && threads_[index].facts.pid != pid) {
    threads_[index].thread_state = ThreadState::ended;
    index = begin_thread(tid, threads_[index].since);
  }
  set_pid(threads_[index], pid);
  return index;
}

void OffCpu::set_pid(State& state, uint32_t pid) {
  state.facts.pid = pid;
  state.facts.has_pid = true;
}

void OffCpu::relabel(State& state) {
  Thread& facts = state.facts;
  const Process& process = processes_.find(facts.pid);
  facts.process = process.lifetime;
  if (state.names_version == process.names_version) return;
  state.names_version = process.names_version;
  facts.process_label =
      names_.intern(process_label(process.pid, names_.text(processes_.process_name(process)), 0,
                                  {options_.labels.process_names_only}));
  facts.thread_label = names_.intern(thread_label(
      facts.tid, names_.text(processes_.thread_name(process, facts.tid)), options_.labels));
}

void OffCpu::judge(State& state, uint64_t time) {
  Thread& facts = state.facts;
  if (NameFilter* const filter = options_.filter)
    facts.selected = facts.has_pid ? filter->takes_thread(facts.pid, facts.tid, time)
                                   : filter->takes_unknown_thread();
  state.judged = true;
}

uint32_t OffCpu::wait_of(uint32_t thread, uint32_t stack, LeaveReason reason) {
  const uint32_t place =
      wait_tree_.child(wait_tree_.child(wait_tree_.child(PathTree::root, thread), stack), reason);
  if (wait_at_.size() <= place) wait_at_.resize(place + 1);
  if (wait_at_[place] == 0) {
    waits_.push_back({thread, reason, stack, {}});
    wait_at_[place] = static_cast<uint32_t>(waits_.size());
  }
  return wait_at_[place] - 1;
}

// The waker, then the waker of that thread, and so on.
uint32_t OffCpu::chain_of(uint32_t waker) {
  uint32_t place = chain_tree_.child(PathTree::root, waker);
  if (waker >= first_special) return place;
  const Chain before = chain_at(threads_[waker].chain);
  for (size_t i = 0; i + 1 < max_chain && before[i] != no_thread; ++i)
    place = chain_tree_.child(place, before[i]);
  return place;
}

OffCpu::Chain OffCpu::chain_at(uint32_t place) const {
  Chain chain;
  chain.fill(no_thread);
  size_t length = 0;
  for (uint32_t at = place; at != PathTree::root; at = chain_tree_.node(at).parent) ++length;
  for (uint32_t at = place; length-- > 0; at = chain_tree_.node(at).parent)
    chain[length] = chain_tree_.node(at).value;
  return chain;
}

// A thread whose start is in the trace did not exist before it.
void OffCpu::add_mte(const pi::RecordView& record, uint64_t time) {
  if (over_) return;
  pi::LinkEntry link;
  const uint32_t minor = record.minor();
  const bool process = minor == PITRACE_MTE_PARENT || minor == PITRACE_MTE_KILL;
  const bool begins = minor == PITRACE_MTE_PARENT || minor == PITRACE_MTE_CREATE_THREAD;
  const bool ends = minor == PITRACE_MTE_KILL || minor == PITRACE_MTE_KILL_THREAD;
  if ((!begins && !ends) || !pi::decode_link(record, link)) return;
  const uint32_t tid = process ? link.pid : link.other;
  if (tid == 0) return;
  if (ends) {
    const auto known = by_tid_.find(tid);
    if (known == by_tid_.end()) return;
    State& state = threads_[known->second];
    state.exiting = true;
    if (state.thread_state == ThreadState::running || state.thread_state == ThreadState::ended)
      return;
    settle(state, end_);
    state.thread_state = ThreadState::ended;
  } else if (link.creator != 0) {
    // A record with the same time may have added the thread already.
    const auto known = by_tid_.find(tid);
    if (known != by_tid_.end() && threads_[known->second].thread_state != ThreadState::ended &&
        threads_[known->second].since >= time)
      return;
    if (known != by_tid_.end()) threads_[known->second].thread_state = ThreadState::ended;
    set_pid(threads_[begin_thread(tid, time)], link.pid);
    relabel(threads_.back());
  }
}

void OffCpu::finish(const Stream& stream) {
  if (!stream.key().is_trace() || !begun_ || over_) return;
  check_gap(stream, false);
}

void OffCpu::finish() {
  if (!begun_) begin(end_);
  cpus_.for_each([&](uint32_t number, const Cpu& cpu) {
    if (cpu.running != no_thread) set_running(number, no_thread, end_);
  });
  for (State& state : threads_) {
    if (state.thread_state != ThreadState::ended) settle(state, end_, true);
    if (state.facts.process_label != no_name) continue;
    // No record of its own has a pid. The main thread's id is that of its process.
    if (!state.facts.has_pid && processes_.find(state.facts.tid).known)
      set_pid(state, state.facts.tid);
    if (state.facts.has_pid) {
      relabel(state);
    } else {
      state.facts.process_label = names_.intern("pid_unknown");
      state.facts.thread_label = names_.intern(thread_label(state.facts.tid, {}, options_.labels));
    }
  }
  if (!options_.filter) return;
  dispatches_ = options_.filter->takes_thread(idle_pid, idle_pid, end_) ? idle_dispatches_ : 0;
  for (State& state : threads_) {
    if (!state.judged) judge(state, end_);
    if (state.facts.selected) dispatches_ += state.facts.times.dispatches;
  }
}

std::vector<OffCpu::Woken> OffCpu::woken() const {
  std::vector<Woken> all;
  for (uint32_t place = 1; place < woken_.size(); ++place)
    if (woken_[place].count != 0)
      all.push_back({woken_[place].wait, chain_at(woken_tree_.node(place).value),
                     woken_[place].count, woken_[place].blocked});
  return all;
}

std::vector<FrameId> OffCpu::stack(uint32_t place) const {
  std::vector<FrameId> frames;
  for (; place != PathTree::root; place = stack_tree_.node(place).parent)
    frames.push_back(stack_tree_.node(place).value);
  return frames;
}

}  // namespace post
