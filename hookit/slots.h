// SPDX-License-Identifier: MIT
// The calls of the compiler's hooks in libraries that are loaded while the program runs.
#ifndef PI_HOOKIT_SLOTS_H
#define PI_HOOKIT_SLOTS_H

namespace pi::hookit {

// The C library has functions of the hooks' names that do nothing. A library that dlopen() loads
// finds those first, unless libhookit was loaded with the program. Lets all loaded libraries call
// the hooks of hookit. Not from a signal handler.
void connect_hooks();

}  // namespace pi::hookit

#endif  // PI_HOOKIT_SLOTS_H
