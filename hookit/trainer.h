// SPDX-License-Identifier: MIT
// Instrumented functions that do nothing: what is measured in them is overhead.
#ifndef PI_HOOKIT_TRAINER_H
#define PI_HOOKIT_TRAINER_H

namespace pi::hookit {

// Calls functions so often that the minimum of each sequence of two events is known: entry after
// entry, exit after entry, entry after exit, exit after exit, from a caller with hooks
// and from one without.
void train();

}  // namespace pi::hookit

#endif  // PI_HOOKIT_TRAINER_H
