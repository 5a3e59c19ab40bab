// SPDX-License-Identifier: MIT
// Threads of the agent.
#ifndef PI_JPROF_AGENT_THREAD_H
#define PI_JPROF_AGENT_THREAD_H

#include <jvmti.h>

#include <string_view>

#include <pi/result.h>

namespace pi::jprof {

constexpr const char* commands_thread = "JProf commands";
constexpr const char* samples_thread = "JProf samples";

// Whether a thread has the name of a thread of the agent.
bool is_agent_thread(std::string_view name);

// Starts a thread that executes run(), with argument. It is a daemon, and programs do not see it
// among their threads. run() begins with ignore_own_calls().
Status start_agent_thread(jvmtiEnv* jvmti, JNIEnv* jni, const char* name, jvmtiStartFunction run,
                          void* argument);

// From now on to its end, the calling thread's calls of Java methods are not recorded: the JVM
// executes Java code at the end of a thread, too.
void ignore_own_calls();
// Whether the calling thread has called it.
bool ignores_own_calls();

}  // namespace pi::jprof

#endif  // PI_JPROF_AGENT_THREAD_H
