// SPDX-License-Identifier: MIT
// The code that each process made at run time, from all that tells of it.
#ifndef A2N_JIT_TABLE_H
#define A2N_JIT_TABLE_H

#include <cstdint>
#include <deque>

#include "base/pid_map.h"
#include "jit_code.h"
#include "process/process_table.h"

namespace a2n {

// How far what a name came from can be trusted.
enum class JitTrust : uint8_t {
  timed,     // it tells when whose an address was
  timeless,  // it does not
};

class JitTable {
 public:
  bool empty() const { return processes_.empty(); }

  // What a process's runtime told; of several sources the first one that knows an address counts.
  void add(uint32_t pid, JitCode code);
  // What is added method by method, with times.
  JitCode& own(uint32_t pid);

  // From now on times are ignored: what was told last counts, whenever it was.
  void ignore_times();

  // Null where there is none. A forked process has what its parent had then.
  const JitMethod* find(const Space* space, uint64_t address, uint64_t time, JitTrust trust) const;

  // The first moment after time at which an address of pid gets another owner.
  uint64_t next_change(uint32_t pid, uint64_t time) const;

 private:
  struct Sources {
    JitCode own;
    std::deque<JitCode> timed;
    std::deque<JitCode> timeless;
  };

  const JitMethod* find_own(const Space& space, uint64_t address, uint64_t time,
                            JitTrust trust) const;

  PidMap<Sources> processes_;
  bool ignore_times_ = false;
};

}  // namespace a2n

#endif  // A2N_JIT_TABLE_H
