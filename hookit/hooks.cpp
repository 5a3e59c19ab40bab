// SPDX-License-Identifier: MIT
// The functions that the compiler calls, and the thread's pointer to its tree.
#include "hooks.h"

#include <atomic>

using pi::callflow::ThreadTree;
using pi::callflow::Type;

namespace pi::hookit {
namespace {

// One pointer in the memory that the loader reserves for every thread: a call to find it could not
// be calibrated, and may allocate.
__attribute__((tls_model("initial-exec"))) thread_local ThreadTree* my_tree = nullptr;

struct ThisThread {
  static ThreadTree*& tree() { return my_tree; }
};
using Instrumented = pi::callflow::CHooks<ThisThread, Type::c_function>;
using Patched = pi::callflow::CHooks<ThisThread, Type::patched_function>;

void ignore(void*, void*, void*) {}

std::atomic<Hook> enter_hook = ignore;
std::atomic<Hook> leave_hook = ignore;

}  // namespace

std::atomic<Hook> patched_enter_hook = Patched::enter;
std::atomic<Hook> patched_leave_hook = Patched::leave;

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
  set_hooks(Instrumented::enter, Instrumented::leave);
}

}  // namespace pi::hookit

extern "C" {

void hookit_on_enter(void* function, void* /*call_site*/) {
  pi::hookit::enter_hook.load(std::memory_order_relaxed)(function, __builtin_frame_address(0),
                                                         __builtin_return_address(0));
}

void hookit_on_exit(void* function, void* /*call_site*/) {
  pi::hookit::leave_hook.load(std::memory_order_relaxed)(function, __builtin_frame_address(0),
                                                         __builtin_return_address(0));
}

[[gnu::visibility("default"), gnu::alias("hookit_on_enter")]] void __cyg_profile_func_enter(
    void* function, void* call_site);
[[gnu::visibility("default"), gnu::alias("hookit_on_exit")]] void __cyg_profile_func_exit(
    void* function, void* call_site);
}
