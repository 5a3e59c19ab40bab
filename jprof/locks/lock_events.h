// SPDX-License-Identifier: MIT
// The functions that the JVM calls for the events of the lock monitor: each passes its event to
// LockMonitor.
#ifndef PI_JPROF_LOCK_EVENTS_H
#define PI_JPROF_LOCK_EVENTS_H

#include <jvmti.h>

namespace pi::jprof {

jvmtiEventCallbacks lock_callbacks();

}  // namespace pi::jprof

#endif  // PI_JPROF_LOCK_EVENTS_H
