// SPDX-License-Identifier: MIT
// Goes from frame to frame, by the rules of any source.
#ifndef UNWIND_WALK_H
#define UNWIND_WALK_H

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <utility>

#include "table/registers_x86.h"
#include "table/table.h"

namespace unwind {

// How a stack ends.
enum class End : uint8_t {
  whole,    // at the start of its thread
  cut,      // where the captured bytes, or the space for frames, end
  unknown,  // at code whose caller is not known
};

struct Walked {
  size_t frames = 0;    // written
  size_t by_table = 0;  // of these, the innermost ones, which tables have found
  End end = End::unknown;
};

// The thread, and the memory from its stack pointer on.
struct CapturedStack {
  Registers registers{};
  std::span<const std::byte> bytes;
  uint32_t unknown = 0;  // registers whose values are not known, by bits
  // Of the stack that a signal handler on another stack has interrupted, of the same time.
  uint64_t interrupted_at = 0;
  std::span<const std::byte> interrupted{};

  std::optional<uint64_t> word_at(uint64_t address) const {
    const auto word = word_of(bytes, registers[stack_pointer], address);
    return word ? word : word_of(interrupted, interrupted_at, address);
  }
  // The word at that address, if it is among these bytes, which begin at another one.
  static std::optional<uint64_t> word_of(std::span<const std::byte> bytes, uint64_t begin,
                                         uint64_t address) {
    const uint64_t place = address - begin;
    uint64_t word = 0;
    if (address < begin || bytes.size() < sizeof word || place > bytes.size() - sizeof word)
      return std::nullopt;
    std::memcpy(&word, bytes.data() + place, sizeof word);
    return word;
  }
};

// An instruction of a frame. exact: the thread is there, or will go on there after a signal;
// otherwise the address is that of the last byte of a call.
struct FramePlace {
  uint64_t address;
  bool exact;
  const Registers& registers;
  size_t inner;  // frames inside of it; 0: the thread is there
};

// Code has rule(FramePlace), a Table::Found, and is_executable(address). It may have
// stack_at(address, signal_frame), bytes from there on of a stack that a signal handler has
// interrupted, if they were not captured: they were read later than the registers, so that the
// frames found in them are guesses. signal_frame: where the kernel has saved the interrupted
// registers.
template <class Code>
class Walk {
 public:
  Walk(const CapturedStack& stack, Code& code)
      : registers_(stack.registers),
        bytes_(stack.bytes),
        begin_(stack.registers[stack_pointer]),
        code_(code),
        unknown_(stack.unknown),
        interrupted_at_(stack.interrupted_at),
        interrupted_(stack.interrupted) {}

  Walked run(std::span<uint64_t> frames) {
    Walked walked;
    bool guessed = false;
    while (walked.end == End::unknown) {
      const uint64_t address = registers_[return_address] - (exact_ ? 0 : 1);
      const Table::Found rule = code_.rule({address, exact_, registers_, walked.frames});
      const End whole = guessed || is_later_ ? End::unknown : End::whole;
      if (rule.cfa->kind == CfaKind::end) {
        walked.end = whole;
        return walked;
      }
      const bool by_table =
          rule.cfa->kind != CfaKind::none && rule.cfa->kind != CfaKind::unsupported;
      if (!by_table && is_program_start()) {
        walked.end = whole;
        return walked;
      }
      const uint64_t inner_stack = registers_[stack_pointer];
      const Step step = by_table ? step_by_table(rule) : step_by_frame_pointer();
      guessed |= !by_table;
      // While a thread starts another program, it has the registers of the old one and the memory
      // of the new one, which may be zero where a return address was.
      if (step == Step::outermost)
        walked.end = guessed || walked.frames == 0 ? End::unknown : whole;
      // What a frame pointer points to is not known to be a frame.
      if (step == Step::not_captured && !guessed) walked.end = End::cut;
      // Nor is an interrupted stack known to be that of the registers: it was read later, or the
      // program has left the handler without a return, and runs on that stack again.
      if (step == Step::impossible && !guessed && is_interrupted_) walked.end = End::cut;
      if (step != Step::done) return walked;
      if (walked.frames == frames.size()) {
        walked.end = End::cut;
        return walked;
      }
      frames[walked.frames++] = registers_[return_address] + (exact_ ? 1 : 0);
      if (!guessed && !is_later_) walked.by_table = walked.frames;
      if (exact_ && !guessed) follow_interrupted_stack(inner_stack);
    }
    return walked;
  }

 private:
  static constexpr uint64_t word = sizeof(uint64_t);
  // The kernel's limits on the arguments of a program are far above what is captured. It also
  // limits the reads of one walk, where many places look like the start of a program.
  static constexpr uint64_t max_arguments = 1 << 16;
  enum class Step { done, outermost, not_captured, impossible };

  // Behind a signal handler. Later bytes once: each costs a read of the process's memory.
  void follow_interrupted_stack(uint64_t signal_frame) {
    const uint64_t at = registers_[stack_pointer];
    if (at - begin_ < bytes_.size()) return;
    if (!interrupted_.empty() && at == interrupted_at_) {
      begin_ = at;
      bytes_ = std::exchange(interrupted_, {});
      is_interrupted_ = true;
      return;
    }
    if constexpr (requires { code_.stack_at(at, signal_frame); }) {
      if (is_later_) return;
      const std::span<const std::byte> bytes = code_.stack_at(at, signal_frame);
      if (bytes.empty()) return;
      begin_ = at;
      bytes_ = bytes;
      is_interrupted_ = is_later_ = true;
    }
  }

  std::optional<uint64_t> read(uint64_t address) const {
    return CapturedStack::word_of(bytes_, begin_, address);
  }

  bool is_known(unsigned reg) const { return (unknown_ >> reg & 1) == 0; }

  std::optional<uint64_t> read_cfa(const Cfa& cfa) const {
    if (!is_known(cfa.base)) return std::nullopt;
    const uint64_t sum = registers_[cfa.base] + static_cast<uint64_t>(int64_t{cfa.offset});
    if (cfa.kind == CfaKind::dereference) {
      const auto value = read(sum);
      if (!value) return std::nullopt;
      return *value + static_cast<uint64_t>(int64_t{cfa.second});
    }
    if (cfa.kind == CfaKind::plt) {
      const bool pushed = static_cast<int32_t>(registers_[return_address] & 15) >= cfa.second;
      return sum + (pushed ? word : 0);
    }
    return sum;
  }

  std::optional<uint64_t> read_save(const Save& save, uint64_t cfa) const {
    const auto offset = static_cast<uint64_t>(int64_t{save.offset});
    switch (save.kind) {
      case SaveKind::at_cfa:
        return read(cfa + offset);
      case SaveKind::cfa:
        return cfa + offset;
      case SaveKind::at_base:
        return is_known(save.base) ? read(registers_[save.base] + offset) : std::nullopt;
      case SaveKind::in_base:
        return is_known(save.base) ? std::optional(registers_[save.base] + offset) : std::nullopt;
      default:
        return std::nullopt;
    }
  }

  Step step_by_table(const Table::Found& rule) {
    const auto cfa = read_cfa(*rule.cfa);
    if (!cfa) return Step::not_captured;
    const bool signal = (rule.cfa->flags & rule_signal) != 0;
    // A caller's frame is above; only a signal handler may run on another stack.
    // Run-time code may have taken its return address from the stack already.
    const bool runtime = (rule.cfa->flags & rule_runtime) != 0;
    const uint64_t lowest = registers_[stack_pointer] + (runtime && exact_ ? 0 : 1);
    if (!signal && *cfa < lowest) return Step::impossible;
    // All are read before one is changed: a rule may need the registers of this frame.
    std::array<uint64_t, register_count> caller;
    caller[stack_pointer] = *cfa;
    caller[return_address] = registers_[return_address];
    uint32_t unknown = unknown_ & ~(1u << return_address);
    for (const Save& save : rule.saves) {
      const auto value = read_save(save, *cfa);
      caller[save.reg] = value.value_or(0);
      unknown = value ? unknown & ~(1u << save.reg) : unknown | 1u << save.reg;
    }
    if ((unknown >> return_address & 1) != 0 || (unknown >> stack_pointer & 1) != 0)
      return Step::not_captured;
    if (caller[return_address] == 0) return Step::outermost;
    if ((runtime || is_interrupted_) &&
        !code_.is_executable(caller[return_address] - (signal ? 0 : 1)))
      return Step::impossible;
    for (const Save& save : rule.saves) registers_[save.reg] = caller[save.reg];
    registers_[stack_pointer] = caller[stack_pointer];
    registers_[return_address] = caller[return_address];
    unknown_ = unknown;
    exact_ = signal;
    return Step::done;
  }

  Step step_by_frame_pointer() {
    const uint64_t frame = registers_[frame_pointer];
    if (!is_known(frame_pointer) || frame % word != 0 || frame < registers_[stack_pointer])
      return Step::impossible;
    const auto next = read(frame);
    const auto address = read(frame + word);
    if (!next || !address) return Step::not_captured;
    if (!code_.is_executable(*address - 1)) return Step::impossible;
    registers_[frame_pointer] = *next;
    registers_[return_address] = *address;
    registers_[stack_pointer] = frame + 2 * word;
    unknown_ = ~(1u << frame_pointer | 1u << return_address | 1u << stack_pointer);
    exact_ = false;
    return Step::done;
  }

  // A program's first code has no table in the dynamic loader: the kernel has put there the number
  // of arguments, a pointer to each and a null.
  bool is_program_start() {
    const auto arguments = read(registers_[stack_pointer]);
    if (!arguments || *arguments > max_arguments) return false;
    for (uint64_t i = 1; i <= *arguments; ++i) {
      const auto pointer = read(registers_[stack_pointer] + i * word);
      if (arguments_left_ == 0 || !pointer || *pointer <= registers_[stack_pointer]) return false;
      --arguments_left_;
    }
    const auto null = read(registers_[stack_pointer] + (*arguments + 1) * word);
    return null && *null == 0 && *arguments != 0;
  }

  Registers registers_;
  std::span<const std::byte> bytes_;
  uint64_t begin_;
  Code& code_;
  uint32_t unknown_;  // registers whose value is not known, by bits
  uint64_t interrupted_at_;
  std::span<const std::byte> interrupted_;  // empty: there is none, or it was followed
  uint64_t arguments_left_ = max_arguments;
  bool is_interrupted_ = false;  // the bytes are those of an interrupted stack
  bool is_later_ = false;        // they were read later than the registers
  bool exact_ = true;            // the address is that of an instruction, not behind a call
};

}  // namespace unwind

#endif  // UNWIND_WALK_H
