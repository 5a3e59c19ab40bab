// SPDX-License-Identifier: MIT
// Reads jitdump files, in which a runtime describes its JIT-compiled code for perf. The format is
// specified in perf's Documentation/jitdump-specification.txt.
#ifndef A2N_JIT_DUMP_H
#define A2N_JIT_DUMP_H

#include <cstdint>
#include <string>

#include "base/interner.h"
#include "base/notes.h"
#include "jit_code.h"
#include "pi/result.h"

namespace a2n {

// Reads load, move and debug-info records from the open file fd and replaces code; unwinding
// records are ignored. name: the file's name in messages. Every byte of the file is untrusted:
// notes report invalid parts, and a file whose times cannot be compared with those of traces. pid:
// the file must belong to this process, by its id in its own PID namespace; 0: any process.
// with_code: stores the bytes of code, too.
pi::Status read_jit_dump(int fd, const std::string& name, uint32_t pid, bool with_code,
                         Interner& interner, Notes& notes, JitCode& code);

}  // namespace a2n

#endif  // A2N_JIT_DUMP_H
