// SPDX-License-Identifier: MIT
// The functions that the JVM calls for the events of call flow: each passes its event to CallFlow.
#ifndef PI_JPROF_CALL_FLOW_EVENTS_H
#define PI_JPROF_CALL_FLOW_EVENTS_H

#include <jvmti.h>

namespace pi::jprof {

jvmtiEventCallbacks call_flow_callbacks();
// HotSpot's extension events of virtual threads.
void JNICALL call_flow_mount(jvmtiEnv* jvmti, ...);
void JNICALL call_flow_unmount(jvmtiEnv* jvmti, ...);

}  // namespace pi::jprof

#endif  // PI_JPROF_CALL_FLOW_EVENTS_H
