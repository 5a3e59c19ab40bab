// SPDX-License-Identifier: MIT
// libperfutil at run time: the agent itself needs only the C library.
#ifndef PI_JPROF_PTT_LIBRARY_H
#define PI_JPROF_PTT_LIBRARY_H

#include <pi/result.h>

#include "call_metrics.h"

namespace pi::jprof {

// Loads libperfutil, from the agent's own directory or where the dynamic loader searches, until the
// process ends.
Result<PttFunctions> load_ptt();

}  // namespace pi::jprof

#endif  // PI_JPROF_PTT_LIBRARY_H
