// SPDX-License-Identifier: MIT
// One call flow of Java and C: what JProf and hookit in one process know about each other.
//
// JProf records, and hookit's hooks call JProf's engine instead of their own. The one that is
// loaded later finds the function of the other one in the loaded libraries (loaded_functions.h):
// hookit calls pitrace_call_flow_1() of JProf, and JProf hookit_join_1(), which calls that function
// too. The number at the end of these names changes with the structures.
#ifndef PI_CALLFLOW_JOINED_ENGINE_H
#define PI_CALLFLOW_JOINED_ENGINE_H

#include <cstddef>
#include <cstdint>

#include "c_hooks.h"

namespace pi::callflow {

// JProf's engine. The functions exist until the process ends.
struct JoinedEngine {
  CHook enter;
  CHook leave;
  CHook patched_enter;
  CHook patched_leave;
};

// hookit, as JProf calls it: from any thread, but not from a signal handler. The object and the
// functions exist until the process ends.
struct JoinedHooks {
  // The hooks call this engine from now on; before all others.
  void (*connect)(const JoinedEngine* engine);
  // A recording begins: hooks of patched functions on; and it ends. Again: nothing happens.
  // saves_vectors: events may change vector registers.
  void (*begin)(bool saves_vectors);
  void (*end)();
  // Calls functions that do nothing, for calibration.
  void (*train)();
  // Libraries may have been loaded: their functions can be named from now on, even after they are
  // unloaded, and between begin() and end() those that are patched have hooks.
  void (*see_libraries)();
  // Writes as much of the function's name as has space in size bytes, with a final zero; returns
  // its whole length.
  size_t (*name)(uint64_t function, char* text, size_t size);
};

// False: JProf records no calls in this process. Calls functions of hooks, before it returns and
// later. Never waits for a thread that loads a library.
using JoinFunction = bool (*)(const JoinedHooks* hooks);
constexpr const char* join_function_name = "pitrace_call_flow_1";

// hookit's own recording ends, and it calls join. Nothing happens if HOOKIT_PROFILING is not "on".
using HookitJoins = void (*)(JoinFunction join);
constexpr const char* hookit_joins_name = "hookit_join_1";

}  // namespace pi::callflow

#endif  // PI_CALLFLOW_JOINED_ENGINE_H
