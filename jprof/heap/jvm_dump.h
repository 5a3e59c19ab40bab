// SPDX-License-Identifier: MIT
// The JVM's own heap dump, and how large it may become.
#ifndef PI_JPROF_JVM_DUMP_H
#define PI_JPROF_JVM_DUMP_H

#include <jni.h>

#include <cstdint>
#include <string>

#include <pi/result.h>

namespace pi::jprof {

// Bytes of all objects, with garbage.
uint64_t used_heap(JNIEnv* jni);

// Lets the JVM create the file, whose name must end with .hprof. live: only what is reachable,
// after a garbage collection in the same pause. The error's message is only the reason.
Status dump_heap(JNIEnv* jni, const std::string& path, bool live);

}  // namespace pi::jprof

#endif  // PI_JPROF_JVM_DUMP_H
