// SPDX-License-Identifier: MIT
// One thread that is stepped by ptrace: what its stops mean for its flow.
#ifndef PI_PERFUTIL_PTRACE_THREAD_H
#define PI_PERFUTIL_PTRACE_THREAD_H

#include <sys/user.h>

#include <cstdint>

#include <pitrace/branch_x86.h>

#include "flow_writer.h"

namespace pi::perfutil {

// Functions are for the thread that traces it, and while it is stopped.
class PtraceThread {
 public:
  explicit PtraceThread(FlowThread id) : id_(id) {}

  const FlowThread& id() const { return id_; }
  // An exec makes any thread the main one.
  void become_main() { id_.tid = id_.pid; }
  bool has_begun() const { return begun_; }
  // Whether its next stop is a matter of microseconds.
  bool stops_soon() const { return runs_ && !in_kernel_ && !listens_; }
  uint32_t branches() const { return branches_; }

  // Its flow begins where it is stopped.
  void begin(FlowWriter& writer);
  // A SIGTRAP without event. False: it is a signal of its own, to be delivered.
  bool trapped(FlowWriter& writer, uint64_t& gaps);
  // Its flow ends here, or with it. How many gaps that has made.
  uint32_t end(FlowWriter& writer, uint32_t reason);

  // One instruction, or what the signal has it do.
  void step(int signal);
  // Stays stopped until it is continued by somebody else.
  void listen();
  void has_stopped() { runs_ = listens_ = false; }
  bool is_running() const { return runs_; }

 private:
  bool read_registers();
  bool is_own_signal(int outcome) const;
  void look_at_instruction();
  void hide_trap_flag();

  FlowThread id_;
  bool begun_ = false;
  bool runs_ = false;
  bool listens_ = false;
  bool in_kernel_ = false;   // the instruction is a system call
  bool delivering_ = false;  // it was given a signal; the instruction may not be executed
  bool entered_ = false;     // at that moment it was in a system call
  pitrace_insn insn_{};      // that it is about to execute
  uint64_t at_ = 0;          // the address of that
  uint32_t count_ = 0;
  uint32_t branches_ = 0;
  uint64_t left_ = 0;  // when it was let into the kernel
  user_regs_struct registers_{};
};

}  // namespace pi::perfutil

#endif  // PI_PERFUTIL_PTRACE_THREAD_H
