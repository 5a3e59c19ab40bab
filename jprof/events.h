// SPDX-License-Identifier: MIT
// The functions that the JVM calls for its events: each passes its event to the session.
#ifndef PI_JPROF_EVENTS_H
#define PI_JPROF_EVENTS_H

#include <jvmti.h>

namespace pi::jprof {

jvmtiEventCallbacks event_callbacks();
// HotSpot's extension events of virtual threads.
jvmtiExtensionEvent mount_callback();
jvmtiExtensionEvent unmount_callback();

}  // namespace pi::jprof

#endif  // PI_JPROF_EVENTS_H
