// SPDX-License-Identifier: MIT
// Machine code to instructions. The only place that knows the library that does it.
#ifndef PI_TOOLS_COMMON_DISASSEMBLER_H
#define PI_TOOLS_COMMON_DISASSEMBLER_H

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>

namespace pi {

// Where a processor goes on after an instruction.
enum class Flow : uint8_t {
  next,  // to the one behind it; also repeated string instructions
  call,
  ret,
  jump,
  conditional_jump,  // also loop and jrcxz
  system_call,       // syscall, sysenter
  interrupt,         // int N, int3, int1, into
  interrupt_return,  // iret, sysret, sysexit, uiret
  stop,              // hlt and what always faults: ud0, ud1, ud2
};

struct Instruction {
  // Bytes, from 1 to what was given. What is no instruction, or one that is cut off, is one byte.
  uint8_t length = 1;
  bool valid = false;  // it is an instruction
  Flow flow = Flow::next;
  bool repeats = false;  // a string instruction with a repeat prefix: one iteration or many
  std::optional<uint64_t> target;  // of a branch whose destination stands in the instruction
};

// x86 code of one width. Any bytes may be given; nothing behind them is read. A const object may be
// used by several threads.
class Disassembler {
 public:
  static constexpr size_t longest = 15;  // bytes of an instruction

  explicit Disassembler(bool is_64 = true);
  ~Disassembler();
  Disassembler(const Disassembler&) = delete;
  Disassembler& operator=(const Disassembler&) = delete;

  // The instruction that code, which must not be empty and stands at address, begins with.
  Instruction decode(std::span<const std::byte> code, uint64_t address) const;

  // The same as text in Intel's notation, "mov rax, [rbp-0x08]"; "(bad)" for what is none.
  std::string text(std::span<const std::byte> code, uint64_t address) const;

 private:
  struct Engine;
  std::unique_ptr<Engine> engine_;
};

}  // namespace pi

#endif  // PI_TOOLS_COMMON_DISASSEMBLER_H
