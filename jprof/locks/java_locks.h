// SPDX-License-Identifier: MIT
// java.lang.PitraceLocks, which counts, as seen from the agent.
#ifndef PI_JPROF_JAVA_LOCKS_H
#define PI_JPROF_JAVA_LOCKS_H

#include <jni.h>

#include <atomic>
#include <cstdint>

#include <pi/result.h>

#include "locks/lock_report.h"
#include "options.h"

namespace pi::jprof {

class JavaLocks {
 public:
  // When the class is defined and before its first probe.
  Status prepare(JNIEnv* jni, const std::atomic<int64_t>& gc_time);

  void start(JNIEnv* jni, Locks kind) const;  // from 0
  void stop(JNIEnv* jni) const;
  void reset(JNIEnv* jni) const;
  // All but running and what probes do not know.
  Result<LockTotals> counts(JNIEnv* jni) const;

  // While an object exists, the monitors that the calling thread enters are not counted.
  class Ignored {
   public:
    Ignored(const JavaLocks& locks, JNIEnv* jni);
    ~Ignored();
    Ignored(const Ignored&) = delete;
    Ignored& operator=(const Ignored&) = delete;

   private:
    const JavaLocks& locks_;
    JNIEnv* const jni_;
    const bool begun_;  // the thread had the memory and the stack for it
  };

 private:
  jmethodID find(JNIEnv* jni, const char* name, const char* signature) const;
  // False after an exception.
  template <class... Arguments>
  bool call(JNIEnv* jni, jmethodID method, Arguments... arguments) const;

  jclass type_ = nullptr;
  jmethodID ignore_ = nullptr, start_ = nullptr, stop_ = nullptr, reset_ = nullptr,
            counts_ = nullptr;
};

}  // namespace pi::jprof

#endif  // PI_JPROF_JAVA_LOCKS_H
