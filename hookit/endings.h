// SPDX-License-Identifier: MIT
// The ways in which a process ends, before each of which the logs are written.
#ifndef PI_HOOKIT_ENDINGS_H
#define PI_HOOKIT_ENDINGS_H

namespace pi::hookit {

// Handles the signals that would end the process, those whose disposition is the default one.
void watch_signals();

}  // namespace pi::hookit

#endif  // PI_HOOKIT_ENDINGS_H
