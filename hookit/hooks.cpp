// SPDX-License-Identifier: MIT
// The functions that the compiler calls, and the thread's pointer to its tree.
//
// Nothing but stores precedes the engine's early read and follows its late read: calibration takes
// the same instructions out of every call.
#include "hooks.h"

#include <atomic>

using pi::callflow::ThreadTree;
using pi::callflow::Transition;
using pi::callflow::Type;

namespace pi::hookit {
namespace {

// One pointer in the memory that the loader reserves for every thread: a call to find it could not
// be calibrated, and may allocate.
__attribute__((tls_model("initial-exec"))) thread_local ThreadTree* my_tree = nullptr;

void ignore(void*, void*, void*) {}

void enter_engine(void* function, void* stack, void* pc) {
  pi::callflow::enter(my_tree, reinterpret_cast<uintptr_t>(function), Type::c_function,
                      {reinterpret_cast<uintptr_t>(stack), reinterpret_cast<uintptr_t>(pc)});
}

void leave_engine(void* function, void* stack, void* pc) {
  pi::callflow::leave(my_tree, reinterpret_cast<uintptr_t>(function), Type::c_function,
                      Transition::exit,
                      {reinterpret_cast<uintptr_t>(stack), reinterpret_cast<uintptr_t>(pc)});
}

void enter_patched(void* function, void* stack, void* pc) {
  pi::callflow::enter(my_tree, reinterpret_cast<uintptr_t>(function), Type::patched_function,
                      {reinterpret_cast<uintptr_t>(stack), reinterpret_cast<uintptr_t>(pc)});
}

void leave_patched(void* function, void* stack, void* pc) {
  pi::callflow::leave(my_tree, reinterpret_cast<uintptr_t>(function), Type::patched_function,
                      Transition::exit,
                      {reinterpret_cast<uintptr_t>(stack), reinterpret_cast<uintptr_t>(pc)});
}

std::atomic<Hook> enter_hook = ignore;
std::atomic<Hook> leave_hook = ignore;

}  // namespace

std::atomic<Hook> patched_enter_hook = enter_patched;
std::atomic<Hook> patched_leave_hook = leave_patched;

ThreadTree*& this_thread() {
  return my_tree;
}

void set_hooks(Hook enter, Hook leave) {
  enter_hook.store(enter, std::memory_order_release);
  leave_hook.store(leave, std::memory_order_release);
}

void set_patched_hooks(Hook enter, Hook leave) {
  patched_enter_hook.store(enter, std::memory_order_release);
  patched_leave_hook.store(leave, std::memory_order_release);
}

void use_engine() {
  set_hooks(enter_engine, leave_engine);
}

}  // namespace pi::hookit

extern "C" {

[[gnu::visibility("default")]] void __cyg_profile_func_enter(void* function, void* /*call_site*/) {
  pi::hookit::enter_hook.load(std::memory_order_relaxed)(function, __builtin_frame_address(0),
                                                         __builtin_return_address(0));
}

[[gnu::visibility("default")]] void __cyg_profile_func_exit(void* function, void* /*call_site*/) {
  pi::hookit::leave_hook.load(std::memory_order_relaxed)(function, __builtin_frame_address(0),
                                                         __builtin_return_address(0));
}
}
