// SPDX-License-Identifier: MIT
// Reads perf-PID.map, the list of JIT-compiled code that many runtimes write for perf. It has no
// timestamps.
#ifndef A2N_PERF_MAP_H
#define A2N_PERF_MAP_H

#include <string>

#include "base/interner.h"
#include "base/notes.h"
#include "jit_code.h"
#include "pi/result.h"

namespace a2n {

// Reads lines "START SIZE NAME", numbers in hexadecimal, from the map that is open at fd and
// replaces code. name: the file's name in messages. A later entry replaces the entries that it
// overlaps. Notes report invalid lines, and that names may be wrong.
pi::Status read_perf_map(int fd, const std::string& name, Interner& interner, Notes& notes,
                         JitCode& code);

}  // namespace a2n

#endif  // A2N_PERF_MAP_H
