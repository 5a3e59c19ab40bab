// SPDX-License-Identifier: MIT
// LIVEOBJECTS: which of the objects that a recording counted are still in use, by their place in
// the trees of calls.
#ifndef PI_JPROF_LIVE_OBJECTS_H
#define PI_JPROF_LIVE_OBJECTS_H

#include <jvmti.h>

#include <atomic>
#include <cstdint>

#include <pi/result.h>
#include <snapshot.h>

namespace pi::jprof {

// Each object gets a tag, by which the JVM remembers where it was allocated, until it is collected.
class LiveObjects {
 public:
  static void add_capability(jvmtiCapabilities& capabilities);

  // The event of an allocation, in its thread. Objects that are counted for no method get no tag.
  void mark(jvmtiEnv* jvmti, jobject object) noexcept;

  // Adds two metrics, LO and LB, to a snapshot of the whole recording: the objects in use, each for
  // the node in which it was allocated. Garbage is to be collected before, without a lock: if the
  // JVM just ends, some collectors do not run any more, and that request waits for ever. at_end:
  // nothing was collected; the JVM follows all references instead, and this is called only once.
  static Status count(jvmtiEnv* jvmti, callflow::Snapshot& snapshot, bool at_end);

  // The JVM forgets all tags, which cost memory and time at each collection. Tags of earlier
  // recordings are counted by no snapshot in any case.
  void forget(jvmtiEnv* jvmti);

  // Objects that should have got a tag.
  uint64_t unmarked() const { return unmarked_; }

 private:
  std::atomic<uint64_t> unmarked_ = 0;
};

}  // namespace pi::jprof

#endif  // PI_JPROF_LIVE_OBJECTS_H
