// SPDX-License-Identifier: MIT
// Records of the control groups of processes, which the module does not write.
#ifndef PI_PERFUTIL_DRIVER_CGROUPS_H
#define PI_PERFUTIL_DRIVER_CGROUPS_H

#include <chrono>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "record_cursor.h"
#include "source/collector.h"
#include "source/config.h"
#include "source/user_buffer.h"
#include "system/process_fd.h"

namespace pi::perfutil {

// A thread reads /proc/PID/cgroup of all processes when the trace begins, and of each one that
// executes a program soon after that; children have their parent's. Where /proc has other ids of
// processes than the module's records, in a PID namespace, it reads nothing. Its records are a
// stream of names of their own, with the number nrm2::recorder_cpu, and have the time of the exec.
class DriverCgroups {
 public:
  explicit DriverCgroups(const TraceConfig& config)
      : proc_(config.proc_path),
        bytes_(config.mte_bytes),
        recording_{config.mode, config.section_bytes} {}
  ~DriverCgroups() { stop(); }

  // The trace is being turned on: nothing of before counts. Lists what runs.
  Status begin();
  // A CPU has buffers; the mapping of its names must outlive this. Repeated calls are harmless.
  void add_cpu(uint32_t cpu, const UniqueMapping& names);
  // The trace has just been turned on: that is the time of what runs already. look_for_cpus calls
  // add_cpu().
  Status start(uint64_t begin, std::function<void()> look_for_cpus);
  // The trace is off. Repeated calls are harmless.
  void finish();
  void stop();

  // These names are about to be overwritten.
  void see_names(const BufferView& view);
  std::vector<BufferView> buffers();
  void consumed(uint64_t position);
  std::vector<std::string> notes();

 private:
  using Clock = std::chrono::steady_clock;
  struct Cpu {
    const UniqueMapping* names;
    RecordCursor cursor;
  };

  void run(const std::function<void()>& look_for_cpus);
  void read_running();
  void read_waiting(Clock::time_point deadline);
  void put(uint32_t pid, uint64_t time);
  // With mutex_ held:
  void follow(Cpu& cpu, const BufferView& view);

  const std::string proc_;
  const uint64_t bytes_;
  std::mutex mutex_;
  RecordingState recording_;
  std::optional<UserBuffer> records_;
  std::map<uint32_t, Cpu> cpus_;
  std::vector<uint32_t> running_;         // processes when the trace was turned on
  std::map<uint32_t, uint64_t> waiting_;  // processes, and when they executed a program
  uint64_t begin_ = 0;
  bool has_other_ids_ = false;
  uint64_t unread_ = 0;  // processes for which there was no time
  ProcessFd stop_event_;
  std::thread thread_;
};

}  // namespace pi::perfutil

#endif  // PI_PERFUTIL_DRIVER_CGROUPS_H
