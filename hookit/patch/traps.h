// SPDX-License-Identifier: MIT
// Breakpoint instructions that stand in functions while they are being patched.
#ifndef PI_HOOKIT_PATCH_TRAPS_H
#define PI_HOOKIT_PATCH_TRAPS_H

#include <cstdint>
#include <vector>

#include <pi/result.h>

namespace pi::hookit {

// From now on a thread that executes a breakpoint at one of the addresses continues after the five
// bytes there; other breakpoints are handled as before. The addresses stay in force, since a trap
// may be delivered late. Error: a thread blocks SIGTRAP, and a breakpoint would end the process.
Status expect_traps(std::vector<uintptr_t> addresses);

}  // namespace pi::hookit

#endif  // PI_HOOKIT_PATCH_TRAPS_H
