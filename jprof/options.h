// SPDX-License-Identifier: MIT
// JProf's options: the text after -agentpath:...=, JPROFOPTS and an attach, into values.
#ifndef PI_JPROF_OPTIONS_H
#define PI_JPROF_OPTIONS_H

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include <pi/result.h>

#include "call_metrics.h"

namespace pi::jprof {

// The lock monitor's counts.
enum class Locks { none, counts, counts_and_times };

// What causes a sample of a call stack.
enum class SampleEvent {
  time,
  allocated_bytes,
  allocations,
  monitor_wait,
  monitor_waited,
  contended_enter,
  contended_entered,
  class_load,
};

// Call-stack sampling.
struct SamplingOptions {
  bool on = false;
  SampleEvent event = SampleEvent::time;
  uint64_t every = 1;          // occurrences, or allocated bytes, for a sample
  uint64_t every_bytes = 1;    // of allocations
  bool with_class = false;     // the object's class is a frame
  unsigned rate = 32;          // samples in a second of a thread's processor time
  unsigned frames = 2048;      // the most of a stack
  bool at_safepoints = false;  // by JVMTI, instead of AsyncGetCallTrace
  bool with_native = false;    // functions of native code, too

  bool is_allocation() const {
    return event == SampleEvent::allocated_bytes || event == SampleEvent::allocations;
  }
};

struct Options {
  bool jita2n = false;
  bool code_bytes = false;
  bool thread_names = false;
  bool virtual_threads = false;  // implies thread_names
  bool call_tree = false;        // log-rt
  bool call_trace = false;       // log-gen
  MetricOptions metrics;
  bool metrics_may_fail = true;  // not chosen by name: what cannot be measured is left out
  bool calibrate = true;
  std::string minima_file;       // observed ones to load
  std::string save_minima_file;  // observed ones to store
  std::string environment_file;  // environmental ones
  bool object_info = false;      // allocated objects and bytes are the metrics
  bool live_objects = false;     // and those that are still in use; implies object_info
  bool method_events = false;    // the JVM's, instead of probes
  bool start = false;
  bool no_start = false;  // NOSTART, of which only the lock monitor and heap dumps need to know
  Locks locks = Locks::none;
  SamplingOptions sampling;
  bool heap_dump = false;
  bool server = true;  // accepts commands of rtdriver, if there is something to command
  unsigned port = 0;   // first one to try; 0: none
  bool log_commands = false;
  bool method_types = true;
  bool legend = true;
  bool json = false;
  bool folded = false;
  bool pid_in_names = true;
  bool verbose = false;         // to stderr
  bool verbose_to_log = false;  // to log-msg
  bool help = false;
  bool all_help = false;
  bool version = false;
  bool detach = false;
  std::string log_path = ".";
  std::string log_prefix = "log";
  std::string log_suffix;

  bool records_names() const { return jita2n || thread_names; }
  bool records_calls() const { return call_tree || call_trace; }
  bool records_locks() const { return locks != Locks::none; }
  bool samples() const { return sampling.on; }
  // What can only begin when a JVM starts, and has commands at run time.
  bool has_commands() const { return records_calls() || records_locks() || samples(); }
  bool accepts_commands() const { return has_commands() || heap_dump; }
  bool records() const { return records_names() || accepts_commands(); }
};

struct ParsedOptions {
  Options options;
  std::vector<std::string> errors;  // one sentence for each error
};

// The text of a file of options, or why there is none.
using ReadConfig = std::function<Result<std::string>(const std::string& path)>;

// Later options override earlier ones, and those of before. texts are read one after the other;
// they may be empty.
ParsedOptions parse_options(const std::vector<std::string_view>& texts, const ReadConfig& read,
                            const Options& before = {});

// The text of HELP; all: with the refused options and the reasons.
std::string options_help(bool all);

}  // namespace pi::jprof

#endif  // PI_JPROF_OPTIONS_H
