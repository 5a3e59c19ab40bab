// SPDX-License-Identifier: MIT
// Sums ticks and the states of threads by time, thread and stack; passes on the sums of each
// stretch of time when it ends, so that memory grows with names and stacks only.
#ifndef POST_RECORDS_BY_TIME_H
#define POST_RECORDS_BY_TIME_H

#include <cstdint>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "off_cpu.h"
#include "state/frames.h"
#include "text/recent.h"

namespace post {

// Records of one kind, thread and stack in one stretch of time.
struct RecordSum {
  enum class Kind : uint8_t { tick, running, runnable, blocked };
  static constexpr uint32_t no_cpu = 0xffffffff;
  static constexpr uint32_t no_stack = 0xffffffff;
  static constexpr LeaveReason no_reason = leave_reasons;  // not known, or a tick

  struct Key {
    Kind kind = Kind::tick;
    LeaveReason reason = no_reason;  // why the thread leaves the CPU, or left it
    uint32_t pid = 0;                // 0 in the states of a thread: the idle task, or not known
    uint32_t tid = 0;
    NameId process = no_name;
    NameId thread = no_name;
    NameId cgroup = no_name;    // of the process; no_name: not known
    uint32_t stack = no_stack;  // RecordsByTime::stack()
    uint32_t line = 0;          // RecordsByTime::line()
    auto operator<=>(const Key&) const = default;
  } key;
  uint64_t time = 0;      // when the stretch begins, nanoseconds of the trace clock
  uint32_t cpu = no_cpu;  // of single records
  uint64_t count = 0;     // ticks, or intervals
  uint64_t amount = 0;    // of states: nanoseconds
};

// A thread, and its names at that time.
struct NamedThread {
  static constexpr uint32_t unknown = 0xffffffff;
  uint32_t pid = 0;
  uint32_t tid = unknown;  // 0: the idle task
  NameId process = no_name;
  NameId thread = no_name;
  bool exists() const { return tid != 0 && tid != unknown; }
};

// A CPU changes from one thread to another. A thread that is not selected is shown as unknown.
struct ThreadSwitch {
  uint64_t time = 0;
  uint32_t cpu = 0;
  NamedThread from;
  LeaveReason reason = RecordSum::no_reason;  // why it leaves
  NamedThread to;
};

struct ThreadWake {
  uint64_t time = 0;
  uint32_t cpu = 0;  // whose record shows it
  NamedThread thread;
  NamedThread waker;  // unknown: an interrupt
};

// A record that a program wrote.
struct UserHook {
  uint64_t time = 0;
  uint32_t cpu = 0;
  NamedThread thread;
  const pi::RecordView& record;
};

class RecordsByTime final : public Subscriber, private OffCpu::Intervals {
 public:
  class Output {
   public:
    virtual ~Output() = default;
    // Sums come in the order of their time.
    virtual void add(const RecordSum& sum, const RecordsByTime& from) = 0;
    // Single events (Options::events), those of a CPU in the order of its records.
    virtual void add(const ThreadSwitch& /*event*/) {}
    virtual void add(const ThreadWake& /*event*/) {}
    virtual void add(const UserHook& /*event*/) {}
  };
  struct Options {
    Resolver::Options frames = {};
    StackSource source = {};
    size_t cache_entries = 1 << 16;
    NameFilter* filter = nullptr;
    bool threads = true;  // their states, too
    bool events = false;  // with the states also each switch, wake-up and user hook
    bool ids = true;      // processes and threads of one name are distinguished
    bool lines = false;   // ticks are divided by source line
    uint64_t bucket = 0;  // nanoseconds of a stretch; 0: single records
  };

  // All must outlive this.
  RecordsByTime(Processes& processes, Symbolizer& symbolizer, StringTable& names, Options options,
                Output& output);

  void subscribe(Subscriptions& to) override { subscribe(to, *this); }
  // For one that passes on what it takes.
  static void subscribe(Subscriptions& to, Subscriber& subscriber) {
    to.add_to_every_major(subscriber);
  }
  bool take(const Arrival& arrival) override;
  void end_stream(const Stream& stream) override { threads_.end_stream(stream); }
  void end_trace() override;

  // Nanoseconds since the epoch minus the trace clock, to within a second; 0: not in the trace.
  uint64_t epoch() const { return epoch_; }

  // The frames of a stack, the innermost first.
  std::vector<FrameId> stack(uint32_t number) const;
  const Frames& frames_of(uint32_t number) const {
    return number % 2 == 0 ? frames_ : threads_.frames();
  }
  // The innermost function.
  FrameId function(uint32_t number) const { return paths_of(number).node(number / 2).value; }
  const Frame& innermost(uint32_t number) const {
    return frames_of(number).frame(function(number));
  }
  // The stack without its innermost function; no_stack if nothing is left.
  uint32_t caller(uint32_t number) const {
    const uint32_t place = paths_of(number).node(number / 2).parent;
    return place == PathTree::root ? RecordSum::no_stack : 2 * place + number % 2;
  }
  bool has_guesses() const { return frames_.has_guesses() || threads_.frames().has_guesses(); }
  // All numbers are below this; not each of them has occurred.
  uint32_t stacks() const;

  struct Line {
    NameId file = no_name;
    uint32_t line = 0;  // 0: not known
  };
  const Line& line(uint32_t number) const { return lines_[number]; }
  uint64_t now() const { return now_; }  // of the last record

 private:
  const PathTree& paths_of(uint32_t number) const {
    return number % 2 == 0 ? stack_tree_ : threads_.stack_paths();
  }
  struct ThreadNames {
    NameId process = no_name;
    NameId thread = no_name;
    NameId cgroup = no_name;
  };
  struct KeyHash {
    size_t operator()(const RecordSum::Key& key) const;
  };
  struct ThreadKey {
    uint32_t names_version = 0;  // 0: none
    uint32_t tid = 0;
    bool operator==(const ThreadKey&) const = default;
    uint64_t hash() const {
      return (names_version ^ uint64_t{tid} << 20) * 0x9e3779b97f4a7c15ull >> 32;
    }
  };
  struct Address {
    uint64_t address = 0;
    uint32_t version = 0;  // Resolver's; 0: none
    bool operator==(const Address&) const = default;
    uint64_t hash() const { return Resolver::hash_of(address, version); }
  };
  struct Sum {
    uint64_t count = 0;
    uint64_t amount = 0;
  };

  void add(uint32_t thread, OffCpu::ThreadState state, uint32_t cpu, uint32_t wait, uint64_t from,
           uint64_t to) override;
  void leave(uint32_t thread, uint64_t time, LeaveReason reason) override {
    leaving_ = {thread, time, reason};
  }
  void dispatch(uint32_t cpu, uint32_t thread, uint64_t time) override;
  void wake(uint32_t thread, uint32_t waker, uint64_t time) override;
  NamedThread named(uint32_t thread);
  void add_tick(const Arrival& arrival);
  const ThreadNames& names_of(const Process& process, uint32_t tid);
  uint32_t line_at(const Process& process, const pi::TprofTick& tick, uint64_t time);
  uint32_t look_up_line(const Process& process, uint64_t address, uint64_t time);
  void put(RecordSum::Key key, uint32_t cpu, uint64_t time, uint64_t amount);
  uint64_t bucket_of(uint64_t time) const;
  void end_bucket();

  Processes& processes_;
  Symbolizer& symbolizer_;
  StringTable& names_;
  const Options options_;
  Output& output_;
  Frames frames_;
  PathTree stack_tree_;
  StackCounts counts_;
  OffCpu threads_;
  Recent<ThreadKey, ThreadNames> thread_names_;
  std::vector<Line> lines_{{}};
  std::unordered_map<uint64_t, uint32_t> known_lines_;  // by file and line
  Recent<Address, uint32_t> line_at_;
  std::unordered_map<RecordSum::Key, Sum, KeyHash> sums_;
  uint64_t bucket_ = 0;  // when the current one begins
  uint64_t now_ = 0;
  struct Leaving {
    uint32_t thread = OffCpu::no_thread;
    uint64_t time = 0;
    LeaveReason reason = RecordSum::no_reason;
  } leaving_;
  struct Running {
    uint32_t thread = OffCpu::no_thread;
  };
  PerCpu<Running> running_;
  uint32_t cpu_ = 0;  // of the current record
  uint64_t epoch_ = 0;
};

}  // namespace post

#endif  // POST_RECORDS_BY_TIME_H
