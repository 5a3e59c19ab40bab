// SPDX-License-Identifier: MIT
// What the compiler's hooks do.
#ifndef PI_HOOKIT_HOOKS_H
#define PI_HOOKIT_HOOKS_H

#include <atomic>

#include "c_hooks.h"
#include "engine.h"

namespace pi::hookit {

using Hook = pi::callflow::CHook;

// Those of functions that are patched.
extern std::atomic<Hook> patched_enter_hook;
extern std::atomic<Hook> patched_leave_hook;

// The compiler's hooks of this library: other libraries may have functions of the same names.
extern "C" [[gnu::visibility("hidden")]] void hookit_on_enter(void* function, void* call_site);
extern "C" [[gnu::visibility("hidden")]] void hookit_on_exit(void* function, void* call_site);

// The calling thread's pointer for the engine.
pi::callflow::ThreadTree*& this_thread();

// From now on the hooks call these functions, or the engine. At first they do nothing.
void set_hooks(Hook enter, Hook leave);
void use_engine();
void set_patched_hooks(Hook enter, Hook leave);

}  // namespace pi::hookit

#endif  // PI_HOOKIT_HOOKS_H
