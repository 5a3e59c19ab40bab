// SPDX-License-Identifier: MIT
// What makes a function have a frame, so that walking frame pointers finds its caller.
#ifndef FRAMES_H
#define FRAMES_H

// gcc leaves the frame pointer out, whatever it is told, of a function that makes no use of the stack.
#define HAS_FRAME()           \
	volatile char in_frame = 0; \
	(void)in_frame

// Keeps the call before it from becoming a jump.
#define NOT_LAST() __asm__ volatile("")

#endif
