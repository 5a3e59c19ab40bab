// SPDX-License-Identifier: MIT
// How often threads were blocked by each monitor, from the JVM's events.
#ifndef PI_JPROF_CONTENDED_GETS_H
#define PI_JPROF_CONTENDED_GETS_H

#include <jvmti.h>

#include <cstdint>
#include <map>
#include <mutex>
#include <utility>
#include <vector>

#include "locks/lock_report.h"

namespace pi::jprof {

// Thread-safe.
class ContendedGets {
 public:
  // The calling thread was blocked and has entered the object's monitor.
  void on_entered(jvmtiEnv* jvmti, JNIEnv* jni, jobject object);
  void reset();
  std::vector<ContendedCount> counts() const;

 private:
  mutable std::mutex mutex_;
  std::map<std::pair<uint32_t, bool>, ContendedCount> counts_;  // by hash and by_probe
  std::map<std::string, ContendedCount> more_;                  // by class, when there are too many
};

}  // namespace pi::jprof

#endif  // PI_JPROF_CONTENDED_GETS_H
