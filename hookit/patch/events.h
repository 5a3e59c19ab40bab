// SPDX-License-Identifier: MIT
// What the code to which patched functions jump does.
#ifndef PI_HOOKIT_PATCH_EVENTS_H
#define PI_HOOKIT_PATCH_EVENTS_H

#include <cstdint>

#pragma GCC visibility push(hidden)
extern "C" {

// stubs.S: the trampolines of patched functions jump to the first or, if they begin with ENDBR64,
// to the second; the third is the return address of those that run.
void hookit_entered();
void hookit_entered_after_endbr();
void hookit_returned();

// Functions with a NOP of five bytes that do nothing.
void hookit_trainer_leaf();
void hookit_trainer_calls_one();
void hookit_trainer_calls_two();
void hookit_trainer_calls_all();

// Whether events may change vector registers, which are then kept. Set before any function is
// patched.
extern bool hookit_saves_vectors;
}
#pragma GCC visibility pop

namespace pi::hookit {

// Calls that were not recorded, because there was no memory for their return addresses.
uint64_t calls_without_cell();

}  // namespace pi::hookit

#endif  // PI_HOOKIT_PATCH_EVENTS_H
