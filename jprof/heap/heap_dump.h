// SPDX-License-Identifier: MIT
// Dumps the heap of this JVM to log-hd.
#ifndef PI_JPROF_HEAP_DUMP_H
#define PI_JPROF_HEAP_DUMP_H

#include <jvmti.h>

#include "options.h"
#include "server/commands.h"

namespace pi::jprof {

// For the commands HD (all objects) and HDF (only what is reachable), from any thread of the JVM:
// one dump after the other. The thread needs room for local references, and must not hold a lock of
// the JVM. The answer is for the user.
Answer take_heap_dump(jvmtiEnv* jvmti, JNIEnv* jni, const Options& options, bool live);

}  // namespace pi::jprof

#endif  // PI_JPROF_HEAP_DUMP_H
