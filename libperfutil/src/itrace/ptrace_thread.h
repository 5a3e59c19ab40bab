// SPDX-License-Identifier: MIT
// One thread that is stepped by ptrace; records the flow that its stops show.
#ifndef PI_PERFUTIL_PTRACE_THREAD_H
#define PI_PERFUTIL_PTRACE_THREAD_H

#include <sys/user.h>

#include <cstdint>

#include <pitrace/branch_x86.h>

#include "flow_writer.h"

namespace pi::perfutil {

// Functions must be called by the tracing thread, while the thread is stopped.
class PtraceThread {
 public:
  explicit PtraceThread(FlowThread id) : id_(id) {}

  const FlowThread& id() const { return id_; }
  // After an exec by any thread of the process.
  void become_main() { id_.tid = id_.pid; }
  bool has_begun() const { return begun_; }
  // Whether the processor traps after its next instruction in user mode, also if it is detached.
  bool has_trap_flag() const { return runs_ && steps_; }
  uint32_t branches() const { return branches_; }

  // Begins its flow where it is stopped.
  void begin(FlowWriter& writer);
  // Handles a SIGTRAP without event. False: it is a signal of the program, to be delivered.
  bool trapped(FlowWriter& writer, uint64_t& gaps);
  // Ends its flow here, or with the thread. Returns how many gaps that has made.
  uint32_t end(FlowWriter& writer, uint32_t reason);

  // Runs one instruction, or delivers the signal. A system call is run without the trap flag, and
  // stops before and after it: the thread may wait in it for ever.
  void step(int signal);
  // Runs it without stepping, until its next signal.
  void run_freely();
  // Leaves it stopped until another process continues it.
  void listen();
  void has_stopped() { runs_ = steps_ = false; }
  bool is_running() const { return runs_; }

 private:
  bool read_registers();
  bool is_own_signal(int outcome) const;
  void look_at_instruction();
  void hide_trap_flag();

  FlowThread id_;
  bool begun_ = false;
  bool runs_ = true;  // a thread that has been attached has not stopped yet
  bool steps_ = false;
  bool in_kernel_ = false;   // the next instruction is a system call
  bool delivering_ = false;  // a signal was delivered; insn_ may not be executed
  bool entered_ = false;     // it was in a system call at that moment
  pitrace_insn insn_{};      // the next instruction
  uint64_t at_ = 0;          // its address
  uint32_t count_ = 0;
  uint32_t branches_ = 0;
  uint64_t left_ = 0;  // time at which it entered the kernel
  user_regs_struct registers_{};
};

}  // namespace pi::perfutil

#endif  // PI_PERFUTIL_PTRACE_THREAD_H
