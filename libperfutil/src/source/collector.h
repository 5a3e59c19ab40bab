// SPDX-License-Identifier: MIT
// What a source of trace records can be asked for; the module and perf each implement it.
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

// What happened to the records of one stream; produced == written + the sum of lost, always.
struct Counts {
  uint64_t produced = 0;
  uint64_t written = 0;
  std::array<uint64_t, PITRACE_LOST_REASONS> lost{};
};

// The committed records of one CPU's buffer of one kind, less what was consumed. The bytes belong
// to the collector and do not change until they are consumed or the trace is turned on again.
struct BufferView {
  uint32_t cpu = 0;
  uint32_t kind = PITRACE_BUFFER_TRACE;
  std::span<const std::byte> records;
  Counts counts;
  uint64_t position = 0;   // in the stream, of the first byte
  uint64_t last_time = 0;  // of the newest record, nanoseconds of the trace clock
};

// What was left of a trace buffer that wraps around.
struct BufferCopy {
  uint32_t cpu = 0;
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
  int pid = 0;    // of the process scope
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

// libperfutil serialises the calls, but for those of a stream's reader. Buffers are freed, and
// ownership of the source given up, by the destructor.
class Collector {
 public:
  virtual ~Collector() = default;

  virtual int source() const = 0;  // PI_SOURCE_*
  // major: PITRACE_MAJOR_ALL, PITRACE_MAJOR_TPROF_SET or one major.
  virtual Status enable(uint32_t major) = 0;
  virtual Status disable(uint32_t major) = 0;
  // While off: ticks are by time, so many a second; by an event; carry these stacks.
  virtual Status set_rate(uint32_t rate) = 0;
  virtual Status set_event(const TickEvent& event) = 0;
  virtual Status set_stacks(const StackChoice& stacks) = 0;
  virtual Status on() = 0;
  virtual Status off() = 0;  // status().full tells whether recording had ended before
  virtual Result<CollectorStatus> status() = 0;
  virtual Status suspend() = 0;
  virtual Status resume() = 0;
  // Forgets the trace buffers' records. PU_ERROR_BUFFER_FULL when recording has ended by itself.
  virtual Status discard() = 0;
  // Of buffers that do not wrap around.
  virtual std::vector<BufferView> buffers() = 0;
  // Of all trace buffers, one after the other, so that one copy is in memory at a time.
  virtual void copy_trace(const std::function<void(BufferCopy)>& take) = 0;

  // For the one thread that reads buffers which stream; safe while others call anything else.
  // Readable while a buffer holds a section; may stay so until something is consumed.
  virtual int ready_fd() = 0;
  // The names in them are those of all the trace records in them, or more.
  virtual std::vector<BufferView> unread() = 0;
  virtual void consumed(const BufferView& view, size_t bytes) = 0;

  virtual ITrace& itrace() = 0;
  // The descriptor on which ITrace is turned on and off by ioctls; -1: only itrace() does that.
  virtual int itrace_fd() const { return -1; }

  // One sentence each: what this source misses, and what a reader of a report must know.
  virtual std::vector<std::string> cannot_see() = 0;
  virtual std::vector<std::string> notes() = 0;
};

}  // namespace pi::perfutil

#endif  // PI_PERFUTIL_COLLECTOR_H
