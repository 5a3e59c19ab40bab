// SPDX-License-Identifier: MIT
// Writes instructions for the kernel's BPF machine.
#ifndef HEAPWATCH_BPF_PROGRAM_H
#define HEAPWATCH_BPF_PROGRAM_H

#include <linux/bpf.h>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace heapwatch {

// The registers 0 to 5 change at each call(); 10 is the frame pointer.
class BpfProgram {
 public:
  using Register = uint8_t;

  void copy(Register to, Register from) { add(BPF_ALU64 | BPF_MOV | BPF_X, to, from, 0, 0); }
  void set(Register to, int32_t value) { add(BPF_ALU64 | BPF_MOV | BPF_K, to, 0, 0, value); }
  void plus(Register to, int32_t value) { add(BPF_ALU64 | BPF_ADD | BPF_K, to, 0, 0, value); }
  void minus(Register to, Register from) { add(BPF_ALU64 | BPF_SUB | BPF_X, to, from, 0, 0); }
  void set_64(Register to, uint64_t value) {
    add(BPF_LD | BPF_IMM | BPF_DW, to, 0, 0, static_cast<int32_t>(value));
    add(0, 0, 0, 0, static_cast<int32_t>(value >> 32));
  }
  void mask(Register to, int32_t value) { add(BPF_ALU64 | BPF_AND | BPF_K, to, 0, 0, value); }
  // Words of 8 bytes, and of 4.
  void load(Register to, Register base, ptrdiff_t offset) {
    add(BPF_LDX | BPF_MEM | BPF_DW, to, base, offset, 0);
  }
  void load_half(Register to, Register base, ptrdiff_t offset) {
    add(BPF_LDX | BPF_MEM | BPF_W, to, base, offset, 0);
  }
  void store(Register base, ptrdiff_t offset, Register from) {
    add(BPF_STX | BPF_MEM | BPF_DW, base, from, offset, 0);
  }
  void store_half(Register base, ptrdiff_t offset, Register from) {
    add(BPF_STX | BPF_MEM | BPF_W, base, from, offset, 0);
  }
  void store_half(Register base, ptrdiff_t offset, int32_t value) {
    add(BPF_ST | BPF_MEM | BPF_W, base, 0, offset, value);
  }
  void add_atomically(Register base, ptrdiff_t offset, Register from) {
    add(BPF_STX | BPF_ATOMIC | BPF_DW, base, from, offset, BPF_ADD);
  }
  void map(Register to, int fd) { load_64(to, BPF_PSEUDO_MAP_FD, fd); }
  // The address of the only element of an array.
  void map_value(Register to, int fd) { load_64(to, BPF_PSEUDO_MAP_VALUE, fd); }
  void call(bpf_func_id function) { add(BPF_JMP | BPF_CALL, 0, 0, 0, function); }
  void exit() { add(BPF_JMP | BPF_EXIT, 0, 0, 0, 0); }

  // A jump forward, to where here() is called with what it has returned.
  using Jump = size_t;
  Jump jump_if_equal(Register value, int32_t other) { return jump(BPF_JEQ, value, other); }
  Jump jump_unless_equal(Register value, int32_t other) { return jump(BPF_JNE, value, other); }
  Jump jump_if_less(Register value, int32_t other) { return jump(BPF_JLT, value, other); }
  void here(Jump jump) { code_[jump].off = static_cast<int16_t>(code_.size() - jump - 1); }

  const std::vector<bpf_insn>& code() const { return code_; }

 private:
  void add(int code, Register to, Register from, ptrdiff_t offset, int32_t value) {
    bpf_insn instruction{};
    instruction.code = static_cast<uint8_t>(code);
    instruction.dst_reg = to & 15;
    instruction.src_reg = from & 15;
    instruction.off = static_cast<int16_t>(offset);
    instruction.imm = value;
    code_.push_back(instruction);
  }
  void load_64(Register to, Register kind, int fd) {
    add(BPF_LD | BPF_IMM | BPF_DW, to, kind, 0, fd);
    add(0, 0, 0, 0, 0);
  }
  Jump jump(int condition, Register value, int32_t other) {
    add(BPF_JMP | condition | BPF_K, value, 0, 0, other);
    return code_.size() - 1;
  }

  std::vector<bpf_insn> code_;
};

}  // namespace heapwatch

#endif  // HEAPWATCH_BPF_PROGRAM_H
