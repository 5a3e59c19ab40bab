// SPDX-License-Identifier: MIT
// Reads JProf's log of code made at run time, log-jita2n (include/pi/jit_log.h).
#ifndef A2N_JIT_LOG_H
#define A2N_JIT_LOG_H

#include <cstdint>
#include <string>

#include "base/interner.h"
#include "base/notes.h"
#include "jit_code.h"
#include "pi/result.h"

namespace a2n {

// What a log must say to be about a process; 0: not known.
struct JitLogProcess {
  uint32_t pid = 0;            // as it sees itself
  uint32_t pid_namespace = 0;  // inode
  uint64_t born = 0;           // when it was forked
  uint64_t seen = 0;           // when it was seen first: it was there by then
};

// Adds what the log that is open at fd holds; name: what messages call it. Every byte of it may be
// wrong: lines that make no sense are left out, and a note has their number and bytes. with_code:
// the bytes of code, too. An error, and nothing is added, when this is no such log, or one of
// another process.
pi::Status read_jit_log(int fd, const std::string& name, const JitLogProcess& process,
                        bool with_code, Interner& interner, Notes& notes, JitCode& code);

}  // namespace a2n

#endif  // A2N_JIT_LOG_H
