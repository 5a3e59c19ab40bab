// SPDX-License-Identifier: MIT
// hookit in a Java virtual machine whose calls JProf records: C appears in JProf's trees, and all
// recordings and logs are JProf's.
#ifndef PI_HOOKIT_JOINED_H
#define PI_HOOKIT_JOINED_H

namespace pi::hookit {

// When the process starts, if hookit is on: true if JProf records calls in this process, and the
// hooks call its engine from now on. Else JProf may do that later.
bool join_jprof();

bool is_joined();

}  // namespace pi::hookit

#endif  // PI_HOOKIT_JOINED_H
