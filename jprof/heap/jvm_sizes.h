// SPDX-License-Identifier: MIT
// The sizes of objects in this JVM, for log-hd.
#ifndef PI_JPROF_JVM_SIZES_H
#define PI_JPROF_JVM_SIZES_H

#include <jvmti.h>

#include <pi/log_hd.h>

namespace pi::jprof {

// The JVM's facts without agent, pid and time. What the JVM does not show is missing.
log_hd::Facts facts_of_jvm(jvmtiEnv* jvmti, JNIEnv* jni);

}  // namespace pi::jprof

#endif  // PI_JPROF_JVM_SIZES_H
