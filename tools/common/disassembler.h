// SPDX-License-Identifier: MIT
// Decodes machine code to instructions. Only disassembler.cpp includes Zydis.
#ifndef PI_TOOLS_COMMON_DISASSEMBLER_H
#define PI_TOOLS_COMMON_DISASSEMBLER_H

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>

namespace pi {

// Where execution continues after an instruction.
enum class Flow : uint8_t {
  next,  // at the next one; also repeated string instructions
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
  // Bytes, from 1 to what was given. An invalid or truncated instruction has one byte.
  uint8_t length = 1;
  bool valid = false;  // false: invalid or truncated
  Flow flow = Flow::next;
  bool repeats = false;  // a string instruction with a repeat prefix: one iteration or many
  std::optional<uint64_t> target;  // of a branch that contains its destination
};

// x86 code of one width. Accepts any bytes, and reads none after them. Several threads may use a
// const object.
class Disassembler {
 public:
  static constexpr size_t longest = 15;  // bytes of an instruction

  explicit Disassembler(bool is_64 = true);
  ~Disassembler();
  Disassembler(const Disassembler&) = delete;
  Disassembler& operator=(const Disassembler&) = delete;

  // Decodes the first instruction of code, which is at address and not empty.
  Instruction decode(std::span<const std::byte> code, uint64_t address) const;

  // The same as text in Intel's notation, "mov rax, [rbp-0x08]"; "(bad)" if it is invalid.
  std::string text(std::span<const std::byte> code, uint64_t address) const;

 private:
  struct Engine;
  std::unique_ptr<Engine> engine_;
};

}  // namespace pi

#endif  // PI_TOOLS_COMMON_DISASSEMBLER_H
