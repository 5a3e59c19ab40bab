// SPDX-License-Identifier: MIT
// The text of instructions, and the source lines that they belong to.
#ifndef POST_CODE_TEXT_H
#define POST_CODE_TEXT_H

#include <disassembler.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "analysis/micro.h"
#include "summary.h"

namespace post {

struct LinePlace {
  std::string file;      // as the debug information has it; empty: not known
  uint32_t line = 0;     // 0: not known
  std::string function;  // that was inlined there; empty: none
};

class CodeText {
 public:
  // Both must outlive this.
  CodeText(const Summary& summary, const Micro& micro) : summary_(summary), micro_(micro) {}

  LinePlace place_of(const Micro::Function& function, uint64_t offset) const;
  // code: of the whole function.
  size_t length(const Micro::Function& function, std::span<const std::byte> code,
                uint64_t offset) const;
  // Targets of jumps and calls are names.
  std::string instruction(const Micro::Function& function, std::span<const std::byte> code,
                          uint64_t offset) const;

 private:
  std::string readable_name(const std::string& name) const;
  std::string plt_text(const Micro::Function& function, uint64_t address) const;
  std::string target_text(const Micro::Function& function, uint64_t size, uint64_t target) const;
  const pi::Disassembler& engine(const Micro::Function& function) const {
    return function.narrow ? narrow_ : wide_;
  }

  const Summary& summary_;
  const Micro& micro_;
  const pi::Disassembler wide_{true};
  const pi::Disassembler narrow_{false};
};

// A line of source: tabs as blanks, every other control character visible.
std::string expanded(std::string_view line);

}  // namespace post

#endif  // POST_CODE_TEXT_H
