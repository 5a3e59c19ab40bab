// SPDX-License-Identifier: MIT
// Replaces the module's copies of stacks by the frames that the application finds in them.
#ifndef PI_PERFUTIL_DRIVER_STACKS_H
#define PI_PERFUTIL_DRIVER_STACKS_H

#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include <pi/decode.h>

#include "record_cursor.h"
#include "source/collector.h"
#include "source/config.h"
#include "source/ring_memory.h"
#include "source/stack_unwinding.h"
#include "source/user_buffer.h"
#include "system/device.h"
#include "system/process_fd.h"

namespace pi::perfutil {

// Its thread empties the buffers of copies while the trace is on, in each mode. The frames are
// records in buffers of this process's memory, one for each CPU. Copies are kept nowhere else, and
// dropped with their frames.
class DriverStacks {
 public:
  // The device must outlive this.
  DriverStacks(Device& device, const TraceConfig& config)
      : device_(device),
        trace_bytes_(config.trace_bytes),
        recording_{config.mode, config.section_bytes} {}
  ~DriverStacks() { stop(); }

  // While the trace is off. 0 or a negative error number of PITRACE_IOC_COPIES.
  int set(const StackCopies& copies);
  void set_depth(uint32_t depth) { unwinding_.set_depth(depth); }
  bool is_active() const { return unwinding_.is_active(); }
  // A CPU has buffers; the mapping of its names must outlive this. Repeated calls are harmless.
  void add_cpu(uint32_t cpu, const UniqueMapping& names);

  // The trace is being turned on: nothing of before counts. look_for_cpus calls add_cpu().
  void begin();
  Status start(std::function<void()> look_for_cpus);
  // The trace is about to be turned off, and is off: finds the remaining frames.
  void end_names();
  void finish();
  // Finds the frames of all copies up to now that need not wait; while the trace is on.
  void catch_up();
  // Ends the thread. Repeated calls are harmless.
  void stop();
  // Drops what belongs to the records of the trace buffers, together with those.
  int discard(const std::function<int()>& discard_records);

  // These names are about to be overwritten.
  void see_names(const BufferView& view);
  // The frames.
  std::vector<BufferView> buffers();
  void consumed(uint32_t cpu, uint64_t position);
  void copy(const std::function<void(BufferCopy)>& take);
  std::vector<std::string> notes();
  std::string frame_names(uint32_t& known);
  void forget_frame_names();

 private:
  struct Cpu {
    const UniqueMapping* names;
    UniqueMapping copies;
    std::optional<UserBuffer> frames;
    RecordCursor in_names, in_copies;
    uint64_t lost = 0;     // copies for which there was no space
    uint64_t refused = 0;  // of processes that this user may not debug
  };
  void run(const std::function<void()>& look_for_cpus);
  // With mutex_ held:
  void read_names(Cpu& cpu, const BufferView& view);
  void tell_resolver(const RecordView& record, uint64_t time);
  bool read_copies(Cpu& cpu);
  // True: the buffers were rather full.
  bool drain();
  // Finds the frames of copies up to that time; the time of the oldest that waits, or UINT64_MAX.
  uint64_t put_frames(uint64_t until, StackUnwinding::Wait wait);

  Device& device_;
  const uint64_t trace_bytes_;
  uint64_t buffer_bytes_ = 0;
  std::mutex mutex_;
  RecordingState recording_;
  StackUnwinding unwinding_;
  std::map<uint32_t, Cpu> cpus_;
  std::set<uint32_t> cpus_failed_;   // there is no memory for their frames
  uint64_t names_end_ = UINT64_MAX;  // names of later times are not needed
  uint64_t horizon_ = 0;  // at the begin of the last drain(): all records up to it were read
  ProcessFd stop_event_;
  std::thread thread_;
};

}  // namespace pi::perfutil

#endif  // PI_PERFUTIL_DRIVER_STACKS_H
