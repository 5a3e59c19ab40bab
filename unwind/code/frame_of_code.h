// SPDX-License-Identifier: MIT
// Where the caller's registers are at an instruction, from the instructions that follow.
#ifndef UNWIND_FRAME_OF_CODE_H
#define UNWIND_FRAME_OF_CODE_H

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "table/table.h"

namespace unwind {

struct FrameOfCode {
  enum class Kind : uint8_t {
    unknown,  // the instructions do not tell
    framed,   // a call follows, so that code which keeps frame pointers has set its own
    exact,    // a return, or the setting of the frame pointer, follows: the rule is right
    tail,     // a jump through a register or memory follows: the rule is right if the word that it
              // takes for the return address is one; otherwise the jump is inside of the function
  };
  Kind kind = Kind::unknown;
  OwnedRule rule{};  // of exact and tail
};

// The rule of code behind a call, which has set its frame pointer.
const OwnedRule& rule_by_frame_pointer();

// Several threads may use a const object.
class CodeReader {
 public:
  CodeReader();
  ~CodeReader();
  CodeReader(const CodeReader&) = delete;
  CodeReader& operator=(const CodeReader&) = delete;

  // All ways through a function have the same frame at the same instruction, since it must find
  // its return address: one way that leads to an answer is enough. code: bytes of the process
  // around the instruction at address, the first being at begin.
  FrameOfCode find(std::span<const std::byte> code, uint64_t begin, uint64_t address) const;

 private:
  struct Engine;
  std::unique_ptr<Engine> engine_;
};

}  // namespace unwind

#endif  // UNWIND_FRAME_OF_CODE_H
