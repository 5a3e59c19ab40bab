// SPDX-License-Identifier: MIT
// Events that are counted, not sampled: together on one CPU or for one thread, or on every CPU.
#ifndef PI_PERFUTIL_COUNTERS_H
#define PI_PERFUTIL_COUNTERS_H

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include <pi/result.h>

#include "events/events.h"
#include "source/sampling.h"
#include "system/process_fd.h"

namespace pi::perfutil {

// The thread or CPU for which counters are opened.
struct CounterTarget {
  int pid = -1;          // thread id; 0: the caller, -1: everything on the CPU
  int cpu = -1;          // -1: every CPU on which the thread runs
  bool inherit = false;  // also the threads and processes that it starts
  bool on_exec = false;  // counting begins at the thread's next exec
};

struct CounterValues {
  std::vector<uint64_t> values;  // in the order of the events
  uint64_t counted_ns = 0;       // how long they were counted
};

// Events that count together: all of them all the time, or none. They are pinned, never multiplexed
// and scaled, so that every number is a count.
class CounterGroup {
 public:
  // events must not be empty. The group is stopped at first. The error names the refused event and
  // the reason.
  static Result<CounterGroup> open(const std::vector<TickEvent>& events,
                                   const CounterTarget& target);

  // PU_ERROR_FACILITY_BUSY when the counters are in use.
  Status start();
  void stop();
  // PU_ERROR_FACILITY_BUSY when the kernel has taken the counters away.
  Result<CounterValues> read() const;

 private:
  Status taken() const;

  std::vector<ProcessFd> fds_;  // the first leads
  std::vector<std::string> names_;
  bool together_ = false;  // one read() returns all counts
};

// Where the kernel describes CPUs and counters; tests use other paths.
struct CounterPlaces {
  std::string online = "/sys/devices/system/cpu/online";
  std::string devices = event_devices;
};

// A group on every CPU. Counters that the CPUs of a package share are counted on one of them, which
// the kernel names.
class SystemCounters {
 public:
  static Result<SystemCounters> open(std::vector<TickEvent> events, CounterPlaces places = {});

  Status start();
  void stop();
  bool counting() const { return counting_; }
  // Restarts the counts at 0.
  Status reset();
  // By CPU. CPUs that went offline keep their counts; those that came online are counted from the
  // first start(), read() or reset() that finds them.
  Result<std::map<uint32_t, CounterValues>> read();

 private:
  struct Place {
    CounterGroup group;
    CounterValues base;  // the values at the last reset, to be subtracted
  };

  SystemCounters(std::vector<TickEvent> events, CounterPlaces places);
  std::vector<uint32_t> wanted_cpus() const;
  Status open_on(uint32_t cpu);
  Status follow_cpus();
  static void add(CounterValues& sum, const CounterValues& now, const CounterValues& base);

  std::vector<TickEvent> events_;
  CounterPlaces places_;
  std::map<uint32_t, Place> open_;
  std::map<uint32_t, CounterValues> past_;  // counts of CPUs that went offline
  bool counting_ = false;
};

// 0 when the kernel lets this user count the event on a whole CPU, else the error number.
int try_counting(const TickEvent& event, const CounterPlaces& places = {});

// Why counting was refused with this error number: part of a sentence, and as an error.
std::string counting_refusal(int error);
Error refused_counting(int error, const std::string& name);

// How many hardware events the processor can count at once; 0 when it has no counters for us.
int simultaneous_counters();

}  // namespace pi::perfutil

#endif  // PI_PERFUTIL_COUNTERS_H
