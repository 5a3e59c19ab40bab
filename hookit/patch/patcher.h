// SPDX-License-Identifier: MIT
// Switches the hooks of functions that are compiled with -fpatchable-function-entry on and off.
//
// The functions of this file are called one at a time, not from a signal handler.
#ifndef PI_HOOKIT_PATCH_PATCHER_H
#define PI_HOOKIT_PATCH_PATCHER_H

#include <cstddef>

#include <pi/result.h>

namespace pi::hookit {

// Finds the functions that can be patched and, if the process has a single thread, replaces several
// NOPs at a function's entry by one of five bytes, so that no thread can be between them. False:
// the process has no such functions.
bool prepare_functions();

// The same in a child of fork(), for the functions that have hooks from its parent: another thread
// of the parent may have held the lock of the list of libraries.
bool keep_functions();

struct Patched {
  size_t functions = 0;   // that have hooks now
  size_t unusable = 0;    // see Sites
  size_t unprepared = 0;  // that were loaded when other threads ran, and have several NOPs
};

// Hooks on, of the functions that prepare_functions() has found. Those that have hooks keep them.
Result<Patched> patch_functions();

// Hooks off: NOPs again. Functions that run return as usual. Error: they stay on.
Status unpatch_functions();

// Patches the trainer's functions, and calls them as often as train() of trainer.h does its own.
void train_patched();

}  // namespace pi::hookit

#endif  // PI_HOOKIT_PATCH_PATCHER_H
