// SPDX-License-Identifier: MIT
// Reads jitdump files, in which a runtime tells perf of the code it makes (the format is perf's
// Documentation/jitdump-specification.txt).
#ifndef A2N_JIT_DUMP_H
#define A2N_JIT_DUMP_H

#include <cstdint>
#include <string>

#include "base/interner.h"
#include "base/notes.h"
#include "jit_code.h"
#include "pi/result.h"

namespace a2n {

// Adds what the file that is open at fd tells: code loaded, moved, its lines; name: what messages
// call it. Unwinding records are of no use here. Every byte of it may be wrong; notes tell where it
// is, and when its times cannot be compared with those of traces. pid: the one it must be of, as
// that sees itself; 0: any. with_code: the bytes of code, too.
pi::Status read_jit_dump(int fd, const std::string& name, uint32_t pid, bool with_code,
                         Interner& interner, Notes& notes, JitCode& code);

}  // namespace a2n

#endif  // A2N_JIT_DUMP_H
