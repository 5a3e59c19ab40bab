// SPDX-License-Identifier: MIT
// Processes, threads and their names as of the time of the record last applied; passes changes of
// address spaces on to the symbolizer.
#ifndef POST_PROCESSES_H
#define POST_PROCESSES_H

#include <pi/decode.h>

#include <array>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <unordered_map>
#include <utility>
#include <vector>

#include "read/subscriber.h"
#include "symbolizer.h"
#include "text/string_table.h"

namespace post {

// One process, from its start or from its first record in the trace. 0: not known.
struct ProcessLifetime {
  uint32_t pid = 0;
  uint32_t parent = 0;     // that forked it; if it ran before the trace, its parent at that time
  NameId name = no_name;   // the last one
  uint64_t start = 0;      // nanoseconds: when it was forked; 0: before the trace
  uint64_t exec = 0;       // when it first began a new image
  uint64_t end = 0;        // when it exited
  uint32_t bits = 0;       // 32 or 64
  uint32_t inner_pid = 0;  // its id in its own PID namespace (NSpid)
  uint32_t pid_namespace = 0;
  std::map<uint32_t, uint32_t> inner_threads;  // tid to tid in the PID namespace
};

// The current owner of a process id.
struct Process {
  uint32_t pid = 0;
  NameId name = no_name;
  bool known = false;       // a record has named it
  NameId cgroup = no_name;  // the path of its control group
  // Each change gets a version that was never used before: names_version a change of the names of
  // the process, its threads and its control group, maps_version a change of its mappings. A clone
  // shares maps_version with its cloner.
  uint32_t names_version = 0;
  std::shared_ptr<uint32_t> maps_version;
  ProcessLifetime* lifetime = nullptr;
  // Events of the runtime (JIT code, thread names) are applied up to this time.
  uint64_t runtime_applied_until = 0;
  bool runtime_logs_searched = false;  // for these events
  uint32_t jit_dumps = 0;              // jitdump files that it mapped
  uint32_t threads = 0;  // threads that it has begun and that have not ended, beside the first
  uint64_t exec = 0;     // when its image began
  std::vector<pi::ThreadStart> starts = {};  // of threads, by time
  size_t starts_applied = 0;                 // the first ones
};

class Processes final : public Subscriber {
 public:
  // Both must outlive this.
  Processes(Symbolizer& symbolizer, StringTable& names);

  // Of the trace; they must outlive the symbolizer.
  void use_frame_names(const FrameNames& names) { symbolizer_.use_frame_names(names); }

  // From now on forgets the mappings of processes soon after they have ended: nothing may be asked
  // about a time before that of the last record.
  void release_ended() { releases_ended_ = true; }

  // Sets the name of a process until a record names it. Only the first call for a process counts.
  void add_fallback_name(uint32_t pid, std::string_view name);

  // Sets the parent of a process that ran before the trace, from a record that may follow its
  // ticks; 0: the fork of the process is in the trace. Only the first call for a process counts.
  void add_first_parent(uint32_t pid, uint32_t parent) { first_parents_.try_emplace(pid, parent); }
  // 0: not known, or the process began during the trace.
  uint32_t first_parent(uint32_t pid) const {
    const auto known = first_parents_.find(pid);
    return known == first_parents_.end() ? 0 : known->second;
  }

  // Applies an MTE record; false when it cannot be decoded.
  bool apply(const pi::RecordView& record, uint64_t time);
  void subscribe(Subscriptions& to) override { to.add(*this, {PITRACE_MAJOR_MTE}); }
  bool take(const Arrival& arrival) override { return apply(arrival.record(), arrival.time()); }

  // Never fails: a process without a record has no name. The reference stays valid.
  const Process& find(uint32_t pid) {
    const Process* recent = recent_[pid % recent_.size()];
    return recent && recent->pid == pid ? *recent : find_slowly(pid);
  }

  // call runs before names change because at() applies events of a runtime.
  void set_before_change(std::function<void()> call) { before_change_ = std::move(call); }

  // The same, with the names valid at time, which must not decrease.
  const Process& at(uint32_t pid, uint64_t time) {
    const Process& process = find(pid);
    if (time >= process.runtime_applied_until) [[unlikely]]
      apply_runtime_events(pid, time);
    return process;
  }

  NameId process_name(const Process& process) const;
  // A thread without its own name has the name of its process.
  NameId thread_name(const Process& process, uint32_t tid) const;

  // All processes in the trace, by their start.
  const std::deque<ProcessLifetime>& lifetimes() const { return lifetimes_; }

 private:
  struct Thread {
    uint32_t pid = 0;
    NameId name = no_name;
    bool by_runtime = false;  // from the runtime, which does not truncate it
  };

  bool apply_module(const pi::RecordView& record, uint64_t time);
  bool apply_name(const pi::RecordView& record, uint64_t time);
  bool apply_parent(const pi::LinkEntry& link, uint64_t time);
  bool apply_link(const pi::RecordView& record, uint64_t time);
  bool apply_cgroup(const pi::RecordView& record, uint64_t time);
  bool apply_inner(const pi::RecordView& record, uint64_t time);
  void begin_thread(Process& process, uint32_t tid, uint32_t creator, uint64_t time);
  void apply_runtime_events(uint32_t pid, uint64_t time);
  void search_runtime_logs(Process& process);
  static void reset_runtime(Process& process);
  void name_thread(Process& process, const pi::ThreadStart& start);
  bool apply_end(const pi::RecordView& record, uint64_t time);
  void release_ended_before(uint64_t time);
  void begin_lifetime(Process& process, uint32_t parent);
  void begin_image(Process& process, uint64_t time);
  void ensure(Process& process, uint64_t time);
  void rename(Process& process, NameId name);
  Process& entry(uint32_t pid);
  const Process& find_slowly(uint32_t pid);

  Symbolizer& symbolizer_;
  StringTable& names_;
  std::unordered_map<uint32_t, Process> processes_;  // never erased from: references stay valid
  std::unordered_map<uint32_t, Thread> threads_;     // those with their own name
  std::unordered_map<uint32_t, NameId> fallback_names_;
  std::unordered_map<uint32_t, uint32_t> first_parents_;
  std::deque<ProcessLifetime> lifetimes_;  // references stay valid
  std::array<const Process*, 1024> recent_{};
  std::function<void()> before_change_;
  uint32_t last_version_ = 0;
  bool releases_ended_ = false;
  struct Ended {
    uint32_t pid = 0;
    uint64_t time = 0;
  };
  std::deque<Ended> ended_;  // to be released; by time
};

}  // namespace post

#endif  // POST_PROCESSES_H
