// SPDX-License-Identifier: MIT
// One thread that is stepped by ptrace; records the flow that its stops show.
#include "ptrace_thread.h"

#include <sys/ptrace.h>
#include <sys/types.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstddef>
#include <cstring>

#include "system/system_facts.h"

namespace pi::perfutil {
namespace {

constexpr uint64_t trap_flag = 0x100;
constexpr uint64_t code_segment_64 = 0x33;

pid_t pid_of(const FlowThread& who) {
  return static_cast<pid_t>(who.tid);
}

// The word at a multiple of 8; false where nothing is mapped.
bool peek(pid_t tid, uint64_t address, uint64_t& word) {
  errno = 0;
  const long value = ::ptrace(PTRACE_PEEKTEXT, tid, reinterpret_cast<void*>(address), nullptr);
  word = static_cast<uint64_t>(value);
  return errno == 0;
}

// Reads aligned words, none of which crosses a page: bytes after the instruction may be unmapped.
pitrace_insn instruction_at(pid_t tid, uint64_t address, bool is64, uint8_t& second_byte) {
  std::array<uint8_t, 24> bytes{};
  uint32_t have = 0;
  const auto skipped = static_cast<uint32_t>(address % 8);
  pitrace_insn insn{PITRACE_INSN_OTHER, 0, is64, 0, 0};
  for (uint64_t place = address - skipped; have < bytes.size(); place += 8) {
    uint64_t word;
    if (!peek(tid, place, word)) break;
    std::memcpy(bytes.data() + have, &word, sizeof word);
    have += 8;
    insn = pitrace_classify(bytes.data() + skipped, have - skipped, is64);
    if (insn.kind != PITRACE_INSN_CUT) break;
  }
  second_byte = bytes[skipped + 1];
  return insn;
}

int trap_code(pid_t tid) {
  siginfo_t info{};
  return ::ptrace(PTRACE_GETSIGINFO, tid, nullptr, &info) == 0 ? info.si_code : TRAP_TRACE;
}

// Whether a system call was interrupted and will be restarted.
bool restarts(const user_regs_struct& registers) {
  const auto result = static_cast<int64_t>(registers.rax);
  return static_cast<int64_t>(registers.orig_rax) >= 0 && result <= -512 && result >= -516;
}

}  // namespace

bool PtraceThread::read_registers() {
  return ::ptrace(PTRACE_GETREGS, pid_of(id_), nullptr, &registers_) == 0;
}

void PtraceThread::look_at_instruction() {
  at_ = registers_.rip;
  uint8_t second = 0;
  insn_ = instruction_at(pid_of(id_), at_, registers_.cs == code_segment_64, second);
  in_kernel_ = insn_.kind == PITRACE_INSN_SYSCALL || insn_.kind == PITRACE_INSN_SYSENTER ||
               (insn_.kind == PITRACE_INSN_INT && insn_.length == 2 && second == 0x80);
}

void PtraceThread::begin(FlowWriter& writer) {
  if (!read_registers()) return;
  begun_ = true;
  writer.start(id_, registers_.rip);
  look_at_instruction();
  // It will first restart the system call that was interrupted.
  if (restarts(registers_)) in_kernel_ = true;
}

// Hides the trap flag from the program: in r11, where a system call leaves the flags (except the
// return from a signal, which restores r11), and in the word that pushf has pushed.
void PtraceThread::hide_trap_flag() {
  const bool has_flags = in_kernel_ && registers_.cs == code_segment_64 &&
                         registers_.rip == at_ + insn_.length && registers_.rcx == registers_.rip;
  if (has_flags && (registers_.r11 & trap_flag) != 0) {
    registers_.r11 &= ~trap_flag;
    ::ptrace(PTRACE_POKEUSER, pid_of(id_), offsetof(user_regs_struct, r11), registers_.r11);
  }
  uint64_t word;
  if (insn_.kind == PITRACE_INSN_PUSHF && peek(pid_of(id_), registers_.rsp, word))
    ::ptrace(PTRACE_POKEDATA, pid_of(id_), reinterpret_cast<void*>(registers_.rsp),
             word & ~trap_flag);
}

// SIGTRAP can also be sent by a process, or caused by int3. Checked only where a step cannot have
// led to the thread's present address.
bool PtraceThread::is_own_signal(int outcome) const {
  if (in_kernel_) return false;
  if (insn_.kind != PITRACE_INSN_INT && outcome != PITRACE_STEP_AGAIN &&
      outcome != PITRACE_STEP_DIVERTED)
    return false;
  return trap_code(pid_of(id_)) != TRAP_TRACE;
}

bool PtraceThread::trapped(FlowWriter& writer, uint64_t& gaps) {
  if (!read_registers()) return true;
  const uint64_t now = registers_.rip;
  const auto gap = [&](uint32_t kind, uint64_t nanoseconds) {
    writer.gap(id_, kind, count_, nanoseconds, now);
    count_ = 0;
    ++gaps;
  };
  // The kernel reports this when it has set up the handler's frame, before its first instruction.
  if (delivering_ && trap_code(pid_of(id_)) == SIGTRAP) {
    count_ += entered_;
    gap(PITRACE_GAP_SIGNAL, 0);
  } else if (in_kernel_ && restarts(registers_)) {
    return true;  // about to handle a signal, or to restart the system call
  } else {
    const int outcome = pitrace_step_outcome(insn_, at_, now);
    if (is_own_signal(outcome)) return false;
    ++count_;
    hide_trap_flag();
    if (in_kernel_) {
      gap(PITRACE_GAP_UNTRACED, trace_clock() - left_);
    } else if (outcome == PITRACE_STEP_TAKEN) {
      writer.branch(id_, at_, now, count_);
      count_ = 0;
      ++branches_;
    } else if (outcome == PITRACE_STEP_DIVERTED) {
      gap(PITRACE_GAP_DIVERTED, 0);
    }
  }
  delivering_ = false;
  look_at_instruction();
  return true;
}

uint32_t PtraceThread::end(FlowWriter& writer, uint32_t reason) {
  if (!begun_) return 0;
  begun_ = false;
  const bool alive = reason != PITRACE_STOP_EXIT && read_registers();
  // A system call that does not return, or has not returned yet.
  const bool entered = in_kernel_ && (!alive || registers_.rip != at_);
  const uint64_t next = alive ? registers_.rip : at_ + (entered ? insn_.length : 0u);
  if (entered) {
    writer.gap(id_, PITRACE_GAP_UNTRACED, count_ + 1, trace_clock() - left_, next);
    count_ = 0;
  }
  writer.stop(id_, reason, branches_, count_, next);
  return entered;
}

void PtraceThread::step(int signal) {
  if (signal != 0) {
    delivering_ = true;
    entered_ = in_kernel_ && read_registers() && registers_.rip != at_;
  }
  if (in_kernel_) left_ = trace_clock();
  steps_ = signal != 0 || !in_kernel_;
  const auto request = steps_ ? PTRACE_SINGLESTEP : PTRACE_SYSCALL;
  runs_ = ::ptrace(request, pid_of(id_), nullptr, signal) == 0;
}

void PtraceThread::run_freely() {
  runs_ = ::ptrace(PTRACE_CONT, pid_of(id_), nullptr, nullptr) == 0;
}

void PtraceThread::listen() {
  runs_ = ::ptrace(PTRACE_LISTEN, pid_of(id_), nullptr, nullptr) == 0;
}

}  // namespace pi::perfutil
