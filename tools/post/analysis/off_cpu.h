// SPDX-License-Identifier: MIT
// Computes how long each thread ran, was runnable or blocked, where it blocked, and its wakers.
#ifndef POST_OFF_CPU_H
#define POST_OFF_CPU_H

#include <pi/decode.h>

#include <array>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "read/stream.h"
#include "read/subscriber.h"
#include "state/frames.h"
#include "state/name_filter.h"
#include "state/processes.h"
#include "text/labels.h"
#include "text/path_tree.h"
#include "text/per_cpu.h"

namespace post {

// Why a thread was switched out: PITRACE_STATE_*, or preempted.
using LeaveReason = uint32_t;
constexpr LeaveReason preempted = PITRACE_STATE_BLOCKED + 1;
constexpr uint32_t leave_reasons = preempted + 1;
const char* reason_word(LeaveReason reason);  // "sleeping"

// Sums over a thread's time from the trace's first record to its last, nanoseconds.
struct ThreadTimes {
  uint64_t running = 0;
  uint64_t runnable = 0;
  uint64_t blocked = 0;
  uint64_t unknown = 0;  // before the thread's first event, and hidden by losses
  // Part of runnable and blocked: intervals whose end is not in the trace.
  uint64_t cut = 0;
  uint64_t dispatches = 0;
  uint64_t migrations = 0;
  uint64_t wakeups = 0;

  void add(const ThreadTimes& other);
};

// Intervals off the CPU with the same thread, stack and reason.
struct WaitTimes {
  uint64_t count = 0;
  uint64_t blocked = 0;   // until the wake-up
  uint64_t runnable = 0;  // from the wake-up to the dispatch
  uint64_t cut = 0;       // part of both, as above

  void add(const WaitTimes& other);
};

class OffCpu final : public Subscriber {
 public:
  enum class ThreadState : uint8_t { unknown, running, runnable, blocked, ended };

  // Takes each stretch of time that a thread was in one state, when it ends.
  class Intervals {
   public:
    virtual ~Intervals() = default;
    // Why a run ends that is passed on next, unless it was shorter than the clock shows. Not called
    // where the end is unknown.
    virtual void leave(uint32_t /*thread*/, uint64_t /*time*/, LeaveReason /*reason*/) {}
    // cpu: where it ran. wait: of a thread off the CPU, in waits(); no_wait: how it left the CPU is
    // not in the trace.
    virtual void add(uint32_t thread, ThreadState state, uint32_t cpu, uint32_t wait, uint64_t from,
                     uint64_t to) = 0;
    // From then on the thread runs on the CPU: a number, idle or no_thread, as after the last
    // record. Called in the order of the CPU's records.
    virtual void dispatch(uint32_t /*cpu*/, uint32_t /*thread*/, uint64_t /*time*/) {}
    // A thread was woken that did not run. waker: a thread by its number, idle or by_interrupt.
    virtual void wake(uint32_t /*thread*/, uint32_t /*waker*/, uint64_t /*time*/) {}
  };

  struct Options {
    LabelOptions labels = {};
    Resolver::Options frames = {};
    StackSource source = {};
    size_t cache_entries = 1 << 16;  // of the cache of addresses; a power of two
    NameFilter* filter = nullptr;    // decides which threads are selected; none: all are
    bool stacks = true;              // without them waits are not divided by what waited
    Intervals* intervals = nullptr;  // must outlive this; none: sums only
  };

  // All three, and the filter, must outlive this.
  OffCpu(Processes& processes, Symbolizer& symbolizer, StringTable& names, Options options);

  // Every record of a trace buffer, in the order of time. selected: it is in the range of time that
  // is counted. Earlier records set the state of each thread at the start of that range.
  // user_frames: those that the record's stack lacks.
  void add(const Stream& stream, bool selected = true, const pi::UserFrames* user_frames = nullptr);
  // Every MTE record, after it was applied to the processes: starts and ends of threads.
  void add_mte(const pi::RecordView& record, uint64_t time);
  // After the last record: once for each stream, which counts losses at its end; then once.
  void finish(const Stream& stream);
  void finish();

  void subscribe(Subscriptions& to) override { to.add_to_every_major(*this); }
  bool take(const Arrival& arrival) override {
    if (arrival.record().major() == PITRACE_MAJOR_MTE) add_mte(arrival.record(), arrival.time());
    if (arrival.stream.key().is_trace()) add(arrival.stream, arrival.in_range, arrival.user_frames);
    return true;
  }
  void end_stream(const Stream& stream) override { finish(stream); }
  void end_trace() override { finish(); }

  static constexpr uint32_t no_thread = 0xffffffff;     // the thread is not known
  static constexpr uint32_t idle = 0xfffffffe;          // the idle task
  static constexpr uint32_t by_interrupt = 0xfffffffd;  // no thread woke it
  static constexpr uint32_t first_special = by_interrupt;
  static constexpr uint32_t no_wait = 0xffffffff;

  // One thread; a later one can have the same id.
  struct Thread {
    uint32_t tid = 0;
    uint32_t pid = 0;
    bool has_pid = false;                      // a record contains it
    bool selected = true;                      // when it was last dispatched
    const ProcessLifetime* process = nullptr;  // nullptr: no record describes it
    NameId process_label = no_name;
    NameId thread_label = no_name;
    ThreadTimes times;
  };
  size_t threads() const { return threads_.size(); }
  const Thread& thread(uint32_t index) const { return threads_[index].facts; }

  // The waker: a thread by its number, idle or by_interrupt; then the waker of that thread, and so
  // on. Ends with no_thread.
  static constexpr size_t max_chain = 4;
  using Chain = std::array<uint32_t, max_chain>;

  struct Wait {
    uint32_t thread = 0;
    LeaveReason reason = 0;
    uint32_t stack = PathTree::root;  // node of the innermost frame
    WaitTimes times;
  };
  struct Woken {
    uint32_t wait = 0;
    Chain chain{};
    uint64_t count = 0;
    uint64_t blocked = 0;
  };
  const std::vector<Wait>& waits() const { return waits_; }
  std::vector<Woken> woken() const;
  // The frames from the innermost.
  std::vector<FrameId> stack(uint32_t place) const;
  const PathTree& stack_paths() const { return stack_tree_; }

  // The thread that runs on a CPU now: its number, idle or no_thread.
  uint32_t running(uint32_t cpu) const {
    const Cpu* found = cpus_.find(cpu);
    return found ? found->running : no_thread;
  }

  const Frames& frames() const { return frames_; }
  const StackCounts& stacks() const { return stacks_; }
  uint64_t begin_time() const { return begin_; }
  uint64_t end_time() const { return end_; }
  uint64_t dispatches() const { return dispatches_; }
  uint64_t wakeups() const { return wakeups_; }
  uint64_t gaps() const { return gaps_; }  // where records are missing
  // Places where a thread runs to which no dispatch was reported, though nothing was lost.
  uint64_t unreported() const { return unreported_; }
  // Dispatches of a thread that ran on another CPU.
  uint64_t contradicted() const { return contradicted_; }
  // Times blocked that ended without a wake-up.
  uint64_t missing_wakeups() const { return missing_wakeups_; }

 private:
  struct State {
    Thread facts;
    ThreadState thread_state = ThreadState::unknown;
    bool exiting = false;
    bool judged = false;  // whether it is selected is known
    uint32_t cpu = 0;     // where it runs
    uint32_t wait = no_wait;
    uint32_t chain = PathTree::root;  // of its last wake-up
    uint32_t early = PathTree::root;  // of a wake-up while it ran
    uint32_t names_version = 0;
    uint64_t since = 0;  // start of this state
  };

  struct Cpu {
    uint32_t running = no_thread;
    uint64_t breaks = 0;     // of its stream so far
    uint64_t last_time = 0;  // of its records
    uint64_t switched = 0;   // when running was last set
  };

  void check_gap(const Stream& stream, bool new_gap);
  void take(const Stream& stream);
  void dispatch(const Stream& stream, const pi::Dispatch& dispatch);
  void find_running(const Stream& stream, const pi::Running& running);
  void leave(uint32_t index, const pi::RecordView& record, uint32_t state, uint64_t time);
  void set_running(uint32_t cpu, uint32_t thread, uint64_t time);
  void enter(uint32_t index, uint32_t cpu, uint64_t time);
  void wake(const pi::Wakeup& wakeup, uint64_t time);
  bool settle(State& state, uint64_t time, bool cut = false);
  bool add_times(State& state, ThreadState settled, uint64_t passed, bool cut);
  uint32_t find(uint32_t tid, uint64_t time);
  uint32_t find(uint32_t tid, uint32_t pid, uint64_t time);
  uint32_t begin_thread(uint32_t tid, uint64_t since);
  void set_pid(State& state, uint32_t pid);
  void relabel(State& state);
  void judge(State& state, uint64_t time);
  void begin(uint64_t time);
  uint32_t wait_of(uint32_t thread, uint32_t stack, LeaveReason reason);
  uint32_t chain_of(uint32_t waker);
  Chain chain_at(uint32_t place) const;

  Processes& processes_;
  StringTable& names_;
  const Options options_;
  Frames frames_;
  PerCpu<Cpu> cpus_;
  std::vector<State> threads_;
  std::unordered_map<uint32_t, uint32_t> by_tid_;
  PathTree stack_tree_;
  PathTree wait_tree_;  // thread, stack, reason
  std::vector<Wait> waits_;
  std::vector<uint32_t> wait_at_;  // by place of wait_tree_: 1 more than the number
  PathTree chain_tree_;
  struct WokenSum {
    uint32_t wait = no_wait;
    uint64_t count = 0;
    uint64_t blocked = 0;
  };
  PathTree woken_tree_;          // wait, chain
  std::vector<WokenSum> woken_;  // by place of woken_tree_
  StackCounts stacks_;
  const pi::UserFrames* user_frames_ = nullptr;  // that the current record's stack lacks
  bool begun_ = false;
  bool over_ = false;  // the range of time that is counted
  uint64_t begin_ = 0;
  uint64_t end_ = 0;
  uint64_t last_gap_ = 0;  // the end of the last one
  uint64_t dispatches_ = 0;
  uint64_t idle_dispatches_ = 0;  // of these, of the idle task
  uint64_t wakeups_ = 0;
  uint64_t gaps_ = 0;
  uint64_t unreported_ = 0;
  uint64_t contradicted_ = 0;
  uint64_t missing_wakeups_ = 0;
};

}  // namespace post

#endif  // POST_OFF_CPU_H
