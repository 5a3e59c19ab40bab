// SPDX-License-Identifier: MIT
// The interface of a source of trace records, implemented for the module and for perf.
#ifndef PI_PERFUTIL_COLLECTOR_H
#define PI_PERFUTIL_COLLECTOR_H

#include <array>
#include <bitset>
#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <vector>

#include <pi/result.h>
#include <pitrace/abi.h>

#include "itrace/itrace.h"
#include "sampling.h"

namespace pi::perfutil {

// Counts of the records of one stream; produced == written + the sum of lost, always.
struct Counts {
  uint64_t produced = 0;
  uint64_t written = 0;
  std::array<uint64_t, PITRACE_LOST_REASONS> lost{};
};

// The records of one CPU's buffer of one kind that are committed and not consumed. The bytes belong
// to the collector and do not change until they are consumed or the trace is turned on again.
struct BufferView {
  uint32_t cpu = 0;
  uint32_t kind = PITRACE_BUFFER_TRACE;
  std::span<const std::byte> records;
  Counts counts;
  uint64_t position = 0;   // of the first byte, in the stream
  uint64_t last_time = 0;  // of the newest record, nanoseconds of the trace clock
};

// A copy of a buffer that wraps around.
struct BufferCopy {
  uint32_t cpu = 0;
  uint32_t kind = PITRACE_BUFFER_TRACE;
  std::vector<std::byte> records;
  Counts counts;
  uint64_t kept = 0;  // of the written records; the others were overwritten
  uint64_t last_time = 0;
};

struct CollectorStatus {
  bool on = false;
  bool suspended = false;  // on, but only names are recorded
  bool full = false;       // a buffer became full and recording stopped by itself
  uint32_t interval_id = 0;
  int scope = 0;  // TRACE_SCOPE_*
  int pid = 0;    // that the user named, in either scope; 0: none
  uint64_t trace_bytes = 0;
  uint64_t mte_bytes = 0;
  uint32_t rate = PITRACE_RATE_DEFAULT;  // of ticks by time
  uint64_t tick_ns = 0;                  // 0: ticks are by events
  TickEvent tick;
  StackChoice stacks;
  uint64_t start_time = 0;
  uint64_t stop_time = 0;
  uint64_t throttled = 0;
  std::map<std::string, uint64_t> missed;  // by hook of the module
  std::bitset<256> enabled;
};

// libperfutil serialises the calls, except those of a stream's reader. The destructor frees the
// buffers and releases the ownership of the source.
class Collector {
 public:
  virtual ~Collector() = default;

  virtual int source() const = 0;  // PI_SOURCE_*
  // major: PITRACE_MAJOR_ALL, PITRACE_MAJOR_TPROF_SET or one major.
  virtual Status enable(uint32_t major) = 0;
  virtual Status disable(uint32_t major) = 0;
  // While the trace is off: ticks by time, rate a second; ticks by an event; stacks of ticks.
  virtual Status set_rate(uint32_t rate) = 0;
  virtual Status set_event(const TickEvent& event) = 0;
  virtual Status set_stacks(const StackChoice& stacks) = 0;
  // The same: who resolves user stacks. PU_ERROR_NOT_SUPPORTED.
  virtual Status set_stack_resolver(const StackCopies& copies) = 0;
  virtual Status on() = 0;
  virtual Status off() = 0;  // status().full: whether recording had ended before
  virtual Result<CollectorStatus> status() = 0;
  virtual Status suspend() = 0;
  virtual Status resume() = 0;
  // Drops the records of the trace buffers. PU_ERROR_BUFFER_FULL when recording has ended by
  // itself.
  virtual Status discard() = 0;
  // The buffers that do not wrap around.
  virtual std::vector<BufferView> buffers() = 0;
  // Copies all buffers that wrap around, one after the other, so that only one copy is in memory at
  // a time.
  virtual void copy_trace(const std::function<void(BufferCopy)>& take) = 0;

  // The next three are for the one thread that reads buffers which stream; other threads may call
  // other functions at the same time. The descriptor is readable while a buffer holds a section,
  // and may stay so until something is consumed.
  virtual int ready_fd() = 0;
  // The views include the names that their trace records need, or more.
  virtual std::vector<BufferView> unread() = 0;
  virtual void consumed(const BufferView& view, size_t bytes) = 0;

  virtual ITrace& itrace() = 0;
  // The descriptor whose ioctls turn ITrace on and off; -1: only itrace() does that.
  virtual int itrace_fd() const { return -1; }

  // One sentence each: information that this source lacks, and notes for the reader of a report.
  virtual std::vector<std::string> cannot_see() = 0;
  virtual std::vector<std::string> notes() = 0;

  // The lines of a section of frame names (pi/nrm2.h), for the numbers above known, which becomes
  // the last one. The names that are here come before the frames that are here. Any thread.
  virtual std::string frame_names(uint32_t& known) = 0;
  // While the trace is off: a new interval begins without them.
  virtual void forget_frame_names() = 0;
};

}  // namespace pi::perfutil

#endif  // PI_PERFUTIL_COLLECTOR_H
