// SPDX-License-Identifier: MIT
// Reads JProf's log of JIT-compiled code, log-jita2n (format: include/pi/jit_log.h).
#ifndef A2N_JIT_LOG_H
#define A2N_JIT_LOG_H

#include <cstdint>
#include <string>

#include "base/interner.h"
#include "base/notes.h"
#include "jit_code.h"
#include "pi/result.h"

namespace a2n {

// The process that a log must belong to. 0: not known.
struct JitLogProcess {
  uint32_t pid = 0;            // id in its own PID namespace
  uint32_t pid_namespace = 0;  // inode of that namespace
  uint64_t born = 0;           // time of its fork
  uint64_t seen = 0;           // time of the first event about it: it started before that
};

// Reads the log that is open at fd and replaces code. name: the file's name in messages. Every byte
// of the file is untrusted: invalid lines are ignored, and a note reports their number and size.
// with_code: stores the bytes of code, too. If the file is not such a log, or belongs to another
// process, it returns an error and leaves code unchanged.
pi::Status read_jit_log(int fd, const std::string& name, const JitLogProcess& process,
                        bool with_code, Interner& interner, Notes& notes, JitCode& code);

}  // namespace a2n

#endif  // A2N_JIT_LOG_H
