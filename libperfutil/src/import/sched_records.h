// SPDX-License-Identifier: MIT
// Context switches and wake-ups of a recording of perf that has them as samples of the scheduler's
// tracepoints ('perf sched record', 'perf record -a -e sched:sched_switch').
#ifndef PI_PERFUTIL_SCHED_RECORDS_H
#define PI_PERFUTIL_SCHED_RECORDS_H

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "perf/perf_convert.h"
#include "perf_fields.h"
#include "perf_file.h"

namespace pi::perfutil {

class SchedRecords {
 public:
  // wakeup: after the wakee is in a run queue, perhaps by its CPU; used if there is no waking.
  enum class Kind : uint8_t { none, context_switch, waking, wakeup, wakeup_new };

  // Decides which events are used; their list must be complete.
  void choose(const PerfFile& file);
  // event: its number in the list.
  Kind kind(size_t event) const { return event < kinds_.size() ? kinds_[event] : Kind::none; }
  bool has_switches() const { return has_switches_; }
  // Events that cannot be used, and why: a sentence; "": none.
  const char* unused() const { return unused_; }
  // The recorder's process ids are not those in the samples' data: no switches are used.
  void refuse_namespace();

  // The numbers of a sample.
  struct Content {
    uint32_t tid = 0;    // prev, or the thread that is woken
    uint32_t other = 0;  // next, or the waker
    uint32_t value = 0;  // PITRACE_STATE_* of prev; CPU of the thread that is woken
  };
  // Nothing if the raw data are too short.
  std::optional<Content> read(Kind kind, const RecordFields& fields) const;

  // The process of a thread, in the order of time.
  void set_process(uint32_t tid, uint32_t pid) { processes_[tid] = pid; }
  std::optional<uint32_t> process_of(uint32_t tid) const;

 private:
  // Of one of the kinds that are wake-ups.
  const std::optional<WakingFormat>& format_of(Kind kind) const;

  TracepointFormats formats_;
  std::vector<Kind> kinds_;
  bool has_switches_ = false;
  const char* unused_ = "";
  std::map<uint32_t, uint32_t> processes_;  // by tid; no hash table, as a file chooses them
};

}  // namespace pi::perfutil

#endif  // PI_PERFUTIL_SCHED_RECORDS_H
