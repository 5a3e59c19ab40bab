// SPDX-License-Identifier: MIT
// Forces functions to have a frame, so that a frame-pointer walk finds their caller.
#ifndef FRAMES_H
#define FRAMES_H

// gcc omits the frame pointer of a function that does not use the stack, in spite of its options.
#define HAS_FRAME()           \
	volatile char in_frame = 0; \
	(void)in_frame

// Prevents a tail call: the call before it stays a call.
#define NOT_LAST() __asm__ volatile("")

#endif
