// SPDX-License-Identifier: MIT
// post --import: converts a recording of perf to the trace file of which reports are made.
#ifndef POST_IMPORT_RECORDING_H
#define POST_IMPORT_RECORDING_H

#include <pi/result.h>

#include "options/options.h"

namespace post {

// options.import must be given.
pi::Status import_recording(const Options& options);

}  // namespace post

#endif  // POST_IMPORT_RECORDING_H
