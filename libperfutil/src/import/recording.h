// SPDX-License-Identifier: MIT
// Converts the records of a recording of perf to trace records.
#ifndef PI_PERFUTIL_RECORDING_H
#define PI_PERFUTIL_RECORDING_H

#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <span>
#include <string>
#include <vector>

#include <pi/result.h>

#include "live_threads.h"
#include "normal_form.h"
#include "perf/perf_convert.h"
#include "perf_file.h"
#include "perf_stream.h"
#include "recorded_code.h"
#include "recorded_kernel.h"
#include "sched_records.h"
#include "source/stack_unwinding.h"
#include "source/user_buffer.h"
#include "time_order.h"

namespace pi::perfutil {

// Which samples of a recording become ticks, and what is known about them.
struct RecordedTicks {
  std::string event;          // "" while there is no record
  bool by_time = false;       // the event is a clock
  bool by_frequency = false;  // perf chose the periods
  uint64_t frequency = 0;     // then: samples a second
  uint64_t period = 0;        // else: events for each sample
  StackChoice stacks;         // which = 0: no call chains
  uint32_t max_frames = 0;    // of a call chain
  bool copies = false;        // samples have copies of the user's stack
  bool branches = false;      // the user's callers are those of the processor's branches
  bool cpus = false;          // records name their CPU
  uint64_t count = 0;
  uint64_t least = UINT64_MAX;  // of the samples' periods
  uint64_t most = 0;
  long double events = 0;  // their sum
};

// What was left out: numbers of records.
struct LeftOut {
  std::map<std::string, uint64_t> other_events;
  uint64_t of_guests = 0;
  uint64_t switches = 0;          // without a CPU they cannot be used
  const char* sched_switch = "";  // why samples of context switches are not used; "": they are
  uint64_t no_copies = 0;         // samples without the registers that are needed to find callers
  uint64_t deferred = 0;          // samples whose callers in user code are in another record
  uint64_t out_of_order = 0;
};

class Recording {
 public:
  // Gets the records of a buffer that are not consumed yet; returns 0 or an error number.
  using Take = std::function<int(const BufferView& view)>;

  // wanted: the name of an event, with wildcards; "": the first one with a period. max_bytes: of
  // records that are being sorted. code: finds the callers of user code in copies of stacks; null:
  // they are left out.
  Recording(PerfFile& file, std::string wanted, size_t max_bytes, Take take,
            RecordedCode* code = nullptr);

  // Converts all records. An error's code is an error number of take, or PU_*. streams: the first
  // one has the records on what ran before; of each of the others the time mostly grows.
  Status convert(std::span<PerfStream* const> streams);
  Status convert(PerfStream& stream) {
    PerfStream* const one[] = {&stream};
    return convert(one);
  }

  const RecordedTicks& ticks() const { return ticks_; }
  const LeftOut& left_out() const { return left_out_; }
  const RecordedKernel& kernel() const { return kernel_; }
  uint64_t throttled() const { return converter_.throttled(); }
  // The process from which all recorded ones descend; 0: there are others, or none.
  uint32_t only_process() const { return others_ ? 0 : first_process_; }
  std::vector<BufferView> buffers() const { return buffers_.unread(); }
  // The time of the oldest record that was taken, once there is one.
  uint64_t start_time() const { return start_time_; }
  // What is missing of the callers in user code.
  std::vector<std::string> notes_on_stacks() const { return unwinding_.notes(); }
  // Registers of another machine have other numbers.
  bool unwinds() const {
    const bool same = file_.machine.empty() || file_.machine == "x86_64";
    return ticks_.copies && unwinding_.is_active() && same;
  }
  // The events with a period, in the recording's order.
  std::vector<std::string> sampled_events() const;

 private:
  enum Kind : uint32_t {
    of_ticks,
    of_copies,
    of_switches,  // of the scheduler's tracepoints, as wake-ups
    of_wakeups,
    of_side_band,
    existing_process
  };

  struct HeldSwitch {
    PerfConverter::Switch change;
    UserBuffer* trace;
  };

  void see(Bytes record);
  void see_user_record(Bytes record);
  void see_attributes(Bytes record);
  void see_update(Bytes record);
  void see_sample(Bytes record);
  void add_sample(Bytes record, const RecordedEvent& event, const RecordFields& fields);
  void see_sched(SchedRecords::Kind kind, Bytes record, const RecordedEvent& event,
                 RecordFields fields);
  void see_map(Bytes record);
  void see_other(Bytes record, Kind kind);
  void see_process(Bytes record, const RecordFields& fields);
  void damaged();
  void choose();
  size_t number_of(const RecordedEvent& event) const {
    return static_cast<size_t>(&event - file_.events.events().data());
  }
  bool is_chosen(const RecordedEvent& event) const { return chosen_[number_of(event)]; }
  void describe_ticks(const RecordedEvent& event);
  void count_period(uint64_t period);
  // From the sorted records.
  void put(uint64_t time, uint32_t cpu, uint32_t kind, std::span<std::byte> record);
  void put_copy(uint64_t time, Bytes record, UserBuffer& trace);
  void tell_code(uint64_t time, Bytes record);
  void put_sched(uint64_t time, uint32_t cpu, uint32_t kind, Bytes record, UserBuffer& trace);
  void release_switch(uint32_t cpu, uint32_t pid, uint32_t tid);
  void note_process(Bytes record);
  void put_existing(uint64_t time, Bytes record, UserBuffer& mte);
  UserBuffer* buffer(uint32_t cpu, uint32_t kind);
  void take_sections(bool all);
  void fail(Error error);

  PerfFile& file_;
  const std::string wanted_;
  Take take_;
  TimeOrder order_;
  NormalForm form_;
  BufferSet buffers_;
  PerfConverter converter_;
  RecordedCode* const code_;
  StackUnwinding unwinding_;
  bool has_copies_ = false;  // an event has copies of stacks
  bool has_switch_records_ = false;
  bool has_rounds_ = true;  // of perf, all rings in one file
  SchedRecords sched_;
  LiveThreads threads_;
  // By CPU: a switch to a thread whose process is not known; the next record there can name it.
  std::map<uint32_t, HeldSwitch> held_;
  std::vector<bool> chosen_;  // by event; empty: not decided yet
  RecordedTicks ticks_;
  LeftOut left_out_;
  RecordedKernel kernel_;
  uint32_t first_process_ = 0;
  std::set<uint32_t> family_;  // it and its descendants
  bool others_ = false;
  uint64_t start_time_ = 0;
  Status status_;
};

}  // namespace pi::perfutil

#endif  // PI_PERFUTIL_RECORDING_H
