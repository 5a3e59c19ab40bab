// SPDX-License-Identifier: MIT
// Reads perf-PID.map, the community's list of code made at run time. It tells no times.
#ifndef A2N_PERF_MAP_H
#define A2N_PERF_MAP_H

#include <string>

#include "base/interner.h"
#include "base/notes.h"
#include "jit_code.h"
#include "pi/result.h"

namespace a2n {

// Adds the lines "START SIZE NAME", numbers hexadecimal, of the map that is open at fd; name: what
// messages call it. An entry that a later one overlaps is gone. Notes tell what makes no sense, and
// that names may be wrong.
pi::Status read_perf_map(int fd, const std::string& name, Interner& interner, Notes& notes,
                         JitCode& code);

}  // namespace a2n

#endif  // A2N_PERF_MAP_H
