// SPDX-License-Identifier: MIT
// What instructions do to the stack: registers and words of the stack, as functions of the values
// that the registers had at the first instruction.
#ifndef UNWIND_STACK_EFFECTS_H
#define UNWIND_STACK_EFFECTS_H

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "table/registers_x86.h"
#include "table/table.h"

namespace unwind {

inline constexpr int64_t word_bytes = sizeof(uint64_t);

// A register's first value plus a number, the word of memory there, or something else.
struct Value {
  enum class Kind : uint8_t { unknown, sum, word };
  Kind kind = Kind::unknown;
  uint8_t base = 0;  // DWARF number
  int32_t offset = 0;
  bool operator==(const Value&) const = default;

  // On a stack: relative to the first stack pointer or frame pointer, or to a later one.
  bool is_place() const {
    return kind == Kind::sum &&
           (base == stack_pointer || base == frame_pointer || base == other_stack);
  }
  static constexpr uint8_t other_stack = register_count;  // the value that the stack pointer gets
  Value plus(int64_t number) const;
};

class StackEffects {
 public:
  StackEffects();

  Value get(unsigned reg) const { return registers_[reg]; }
  void set(unsigned reg, Value value) { registers_[reg] = value; }
  // The word at a place of the stack; a place in other memory is unknown.
  Value load(Value place) const;
  // Writes to other places are taken for writes to other memory than the frame's.
  void store(Value place, Value value);
  void push(Value value);
  Value pop();
  // The stack pointer gets a value that is not known: what is pushed from now on is.
  void change_stack() { registers_[stack_pointer] = {Value::Kind::sum, Value::other_stack, 0}; }
  bool is_on_other_stack() const { return registers_[stack_pointer].base == Value::other_stack; }

  // The rule of the first instruction, by the return address, the caller's stack pointer and its
  // frame pointer. Nothing if they do not follow from the first values.
  static std::optional<OwnedRule> rule(Value address, Value caller_stack, Value caller_frame);

 private:
  struct Word {
    Value place, value;
  };
  std::array<Value, register_count> registers_;
  std::vector<Word> words_;
};

}  // namespace unwind

#endif  // UNWIND_STACK_EFFECTS_H
