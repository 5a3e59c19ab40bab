// SPDX-License-Identifier: MIT
// The native methods of java.lang.PitraceProbe, which probed methods call.
#ifndef PI_JPROF_PROBE_CLASS_H
#define PI_JPROF_PROBE_CLASS_H

#include <jni.h>

#include <cstddef>
#include <cstdint>

namespace pi::jprof {

// The interpreter's code, as the JVM reports it. Before the first probe.
void set_interpreter(const void* code, size_t size);

// Defines the class in the boot class loader. False, without a Java exception, if that fails.
bool define_probe_class(JNIEnv* jni);

}  // namespace pi::jprof

#endif  // PI_JPROF_PROBE_CLASS_H
