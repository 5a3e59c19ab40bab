// SPDX-License-Identifier: MIT
// What a hook of a C function does with the engine.
//
// Nothing but stores precedes the engine's early read and follows its late read: calibration takes
// the same instructions out of every call.
#ifndef PI_CALLFLOW_C_HOOKS_H
#define PI_CALLFLOW_C_HOOKS_H

#include <cstdint>

#include "engine.h"

namespace pi::callflow {

// Parameters as in struct hookit_profiler (hookit.h); the enter hook's pc is null if the caller of
// a patched function ended with a jump to it.
using CHook = void (*)(void* function, void* stack, void* pc);

// Thread::tree(): the calling thread's pointer for the engine.
template <class Thread, Type type>
struct CHooks {
  static void enter(void* function, void* stack, void* pc) {
    callflow::enter(Thread::tree(), reinterpret_cast<uintptr_t>(function), type,
                    {reinterpret_cast<uintptr_t>(stack), reinterpret_cast<uintptr_t>(pc)});
  }
  static void leave(void* function, void* stack, void* pc) {
    callflow::leave(Thread::tree(), reinterpret_cast<uintptr_t>(function), type, Transition::exit,
                    {reinterpret_cast<uintptr_t>(stack), reinterpret_cast<uintptr_t>(pc)});
  }
};

}  // namespace pi::callflow

#endif  // PI_CALLFLOW_C_HOOKS_H
