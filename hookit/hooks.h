// SPDX-License-Identifier: MIT
// What the compiler's hooks do.
#ifndef PI_HOOKIT_HOOKS_H
#define PI_HOOKIT_HOOKS_H

#include "engine.h"

namespace pi::hookit {

// Parameters as in struct hookit_profiler.
using Hook = void (*)(void* function, void* stack, void* pc);

// The calling thread's pointer for the engine.
pi::callflow::ThreadTree*& this_thread();

// From now on the hooks call these functions, or the engine. At first they do nothing.
void set_hooks(Hook enter, Hook leave);
void use_engine();

}  // namespace pi::hookit

#endif  // PI_HOOKIT_HOOKS_H
