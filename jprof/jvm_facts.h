// SPDX-License-Identifier: MIT
// Names that a JVM returns: its own, and those of threads.
#ifndef PI_JPROF_JVM_FACTS_H
#define PI_JPROF_JVM_FACTS_H

#include <jvmti.h>

#include <optional>
#include <string>

namespace pi::jprof {

// A system property of the JVM; or empty.
std::string jvm_property(jvmtiEnv* jvmti, const char* name);

// The JVM's name and version; "?" if it does not return them.
std::string jvm_name(jvmtiEnv* jvmti);

// Nothing in an early phase of the JVM, which does not return names yet.
std::optional<std::string> thread_name(JavaVM* vm, jvmtiEnv* jvmti, jthread thread);

}  // namespace pi::jprof

#endif  // PI_JPROF_JVM_FACTS_H
