// SPDX-License-Identifier: MIT
// The search for leaked blocks when the process ends.
#ifndef PI_HEAPIT_AT_END_H
#define PI_HEAPIT_AT_END_H

namespace pi::heapit {

// Before any other function that is to be called at the end: the first one is called last. A
// process that calls _exit() ends by that of this library.
void prepare_end();

}  // namespace pi::heapit

#endif  // PI_HEAPIT_AT_END_H
