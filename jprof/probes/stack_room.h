// SPDX-License-Identifier: MIT
// Room on the stack for the probes of a method's exit.
//
// A probe for which the stack is too small throws a StackOverflowError, and its event is lost. An
// entry without an exit leaves a method in the tree that has ended. So the probe of an entry throws
// the error itself, a little before the JVM would: then neither the entry nor the exit is an event,
// and each exit has the room that its entry had and more.
#ifndef PI_JPROF_STACK_ROOM_H
#define PI_JPROF_STACK_ROOM_H

#include <cstdint>

#include <jni.h>

namespace pi::jprof {

// A frame of the probe of an entry in the calling thread is at this address or above. The highest
// address at first, so that the first probe finds the right one.
extern constinit thread_local uintptr_t lowest_entry __attribute__((tls_model("initial-exec")));

// Once, before the first probe. False: an exception is pending.
bool prepare_stack_errors(JNIEnv* jni);

// The frame of the probe of an entry is below lowest_entry. May its method begin? If not, a
// StackOverflowError is pending.
bool may_begin(JNIEnv* jni, uintptr_t frame);

}  // namespace pi::jprof

#endif  // PI_JPROF_STACK_ROOM_H
