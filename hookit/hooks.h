// SPDX-License-Identifier: MIT
// What the compiler's hooks do.
#ifndef PI_HOOKIT_HOOKS_H
#define PI_HOOKIT_HOOKS_H

#include <atomic>

#include "engine.h"

namespace pi::hookit {

// Parameters as in struct hookit_profiler.
using Hook = void (*)(void* function, void* stack, void* pc);

// The same for functions that are patched. The enter hook's pc is the function, or null: the
// function's caller ended with a jump to it.
extern std::atomic<Hook> patched_enter_hook;
extern std::atomic<Hook> patched_leave_hook;

// The calling thread's pointer for the engine.
pi::callflow::ThreadTree*& this_thread();

// From now on the hooks call these functions, or the engine. At first they do nothing.
void set_hooks(Hook enter, Hook leave);
void use_engine();
void set_patched_hooks(Hook enter, Hook leave);

}  // namespace pi::hookit

#endif  // PI_HOOKIT_HOOKS_H
