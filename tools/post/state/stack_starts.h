// SPDX-License-Identifier: MIT
// The functions at which call stacks end: where threads start, and where the kernel is entered.
#ifndef POST_STACK_STARTS_H
#define POST_STACK_STARTS_H

#include <cstdint>
#include <string_view>

namespace post {

enum class StartKind : uint8_t {
  none,
  // A thread begins in it: nothing calls it. In the kernel: an entry point, or a thread's start.
  start,
  // The same, whatever unwind tables say: Go's own code switches to another stack in it.
  outermost,
  // The caller continues in it and the new thread begins in it (clone): a start only if the
  // thread's function returns to it.
  clone,
  // Its callers are on another stack: Go's code calls C in it. Its unwind table does not say so.
  other_stack,
};

// Nothing calls a function of this kind.
constexpr bool starts_thread(StartKind kind) {
  return kind != StartKind::none && kind != StartKind::other_stack;
}

// For user code. module: the path of its file. Names that a program may use for its own functions
// (start_thread, clone) are starts in C libraries only; reserved names are starts in every module.
StartKind user_start(std::string_view symbol, std::string_view module);

// For the x86 kernel.
StartKind kernel_start(std::string_view symbol);

// Whether the path is that of a C library's shared object, or of a dynamic loader.
bool is_c_library(std::string_view module);

}  // namespace post

#endif  // POST_STACK_STARTS_H
