// SPDX-License-Identifier: MIT
// What the kernel saves when it calls a signal handler.
#ifndef SWTRACE_SIGNAL_FRAME_X86_H
#define SWTRACE_SIGNAL_FRAME_X86_H

#include <cstddef>

namespace pi::swtrace {

// struct ucontext of the kernel (arch/x86/include/uapi/asm/ucontext.h), with the interrupted
// registers. It begins where the stack pointer is when the handler has returned.
constexpr size_t signal_frame_bytes = 304;
// Of the signals that were blocked (64 bits).
constexpr size_t signal_frame_mask = 296;

}  // namespace pi::swtrace

#endif  // SWTRACE_SIGNAL_FRAME_X86_H
