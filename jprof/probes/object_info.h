// SPDX-License-Identifier: MIT
// OBJECTINFO: the objects that each thread allocates, and their bytes, as metrics of call flow.
#ifndef PI_JPROF_OBJECT_INFO_H
#define PI_JPROF_OBJECT_INFO_H

#include <jvmti.h>

#include <cstdint>

#include <meter.h>

namespace pi::jprof {

// The JVM reports each object as it is allocated, by whatever code: bytecode, reflection, native
// code or the JVM itself. Each thread adds up its own; the engine charges the difference between
// two events to the method that ran between them.
class ObjectInfo {
 public:
  static void add_capability(jvmtiCapabilities& capabilities);
  // Before the JVM's first thread: each keeps a distance to its next report. False if it cannot.
  static bool prepare(jvmtiEnv* jvmti);
  // The columns AO and AB: allocated objects and bytes of the calling thread.
  static callflow::Meter meter();

  // The event. Not counted while the thread's events are ignored.
  static void on_allocation(jlong bytes);

  // Threads notice the event when their buffer for new objects is full: ends these buffers, by
  // collecting garbage. Without a lock: if the JVM just ends, this may wait for ever.
  static void begin(jvmtiEnv* jvmti);
};

}  // namespace pi::jprof

#endif  // PI_JPROF_OBJECT_INFO_H
