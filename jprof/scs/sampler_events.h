// SPDX-License-Identifier: MIT
// The functions that the JVM calls for the events of call-stack sampling: each passes its event to
// Sampler.
#ifndef PI_JPROF_SAMPLER_EVENTS_H
#define PI_JPROF_SAMPLER_EVENTS_H

#include <jvmti.h>

namespace pi::jprof {

jvmtiEventCallbacks sampler_callbacks();

}  // namespace pi::jprof

#endif  // PI_JPROF_SAMPLER_EVENTS_H
