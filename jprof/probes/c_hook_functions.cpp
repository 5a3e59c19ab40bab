// SPDX-License-Identifier: MIT
// What hookit's hooks call in JProf. Compiled without vector registers, in which patched functions
// have arguments.
#include "probes/c_hook_functions.h"

#include "probes/own_tree.h"

namespace pi::jprof {
namespace {

namespace callflow = pi::callflow;
using callflow::Type;

struct ThisThread {
  static callflow::ThreadTree*& tree() { return own_tree; }
};
using Instrumented = callflow::CHooks<ThisThread, Type::c_function>;
using Patched = callflow::CHooks<ThisThread, Type::patched_function>;

}  // namespace

constinit const callflow::JoinedEngine c_hook_functions = {Instrumented::enter, Instrumented::leave,
                                                           Patched::enter, Patched::leave};

}  // namespace pi::jprof
