// SPDX-License-Identifier: MIT
// SCS=EVENT: which occurrences of the JVM's events are sampled, and what a sample counts.
#ifndef PI_JPROF_OCCURRENCES_H
#define PI_JPROF_OCCURRENCES_H

#include <jvmti.h>

#include <atomic>
#include <cstdint>
#include <string>
#include <vector>

#include <meter.h>

#include "options.h"
#include "scs/sample_trees.h"

namespace pi::jprof {

// Thread-safe, without locks.
class Occurrences {
 public:
  // For an event, not for time.
  explicit Occurrences(const SamplingOptions& options);

  static void add_capability(const SamplingOptions& options, jvmtiCapabilities& capabilities);
  // The JVM's event.
  jvmtiEvent event() const;
  // Before the JVM's first thread, each of which keeps a distance to its next sample: how often the
  // JVM is to report allocations. False if it cannot.
  bool prepare(jvmtiEnv* jvmti) const;
  // Before the event is enabled.
  void reset() { occurrences_ = bytes_ = 0; }
  // Afterwards: see ObjectInfo::begin(). Nothing, if not each allocation counts.
  void begin(jvmtiEnv* jvmti) const;

  // The columns, and what each sample is, for the head of the log.
  std::vector<callflow::Metric> metrics() const;
  std::string description() const;

  // What one more occurrence counts for; zeros: it is no sample. bytes: of an allocated object.
  SampleValues next(uint64_t bytes);

 private:
  bool counts_all() const;

  const SamplingOptions options_;
  std::atomic<uint64_t> occurrences_ = 0;
  std::atomic<uint64_t> bytes_ = 0;
};

}  // namespace pi::jprof

#endif  // PI_JPROF_OCCURRENCES_H
