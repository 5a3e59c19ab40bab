// SPDX-License-Identifier: MIT
// The JIT-compiled code of each process, from all sources that report it.
#ifndef A2N_JIT_TABLE_H
#define A2N_JIT_TABLE_H

#include <cstdint>
#include <deque>

#include "base/pid_map.h"
#include "jit_code.h"
#include "process/process_table.h"

namespace a2n {

// How far the source of a name can be trusted.
enum class JitTrust : uint8_t {
  timed,     // it reports with timestamps which method owned an address
  timeless,  // it has no timestamps
};

class JitTable {
 public:
  bool empty() const { return processes_.empty(); }

  // Adds the code that the runtime of a process reported. If several sources have a method at an
  // address, the one added first is used.
  void add(uint32_t pid, JitCode code);
  // The code of a process that is reported method by method, with timestamps.
  JitCode& own(uint32_t pid);

  // From now on times are ignored: the method that was reported last counts, at any time.
  void ignore_times();

  // The method at an address, or null. A forked process has the code that its parent had at the
  // fork.
  const JitMethod* find(const Space* space, uint64_t address, uint64_t time, JitTrust trust) const;

  // The first time after this one at which an address of pid gets another owner.
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
