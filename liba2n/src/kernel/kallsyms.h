// SPDX-License-Identifier: MIT
// Parses the texts of /proc/kallsyms and /proc/modules. Every line is untrusted.
#ifndef A2N_KALLSYMS_H
#define A2N_KALLSYMS_H

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace a2n {

// "ffffffffc0201000 t ext4_init\t[ext4]"; the views point into the text.
struct KallsymsLine {
  uint64_t address;
  char type;
  std::string_view name;
  std::string_view module;  // without brackets; empty for the kernel itself
};

// "ext4 1101824 1 - Live 0xffffffffc0201000"
struct ModulesLine {
  std::string_view name;
  uint64_t size;
  uint64_t address;
};

// Lines that do not have that form are skipped and counted: the kernel writes none, so that they
// are damaged.
template <class Line>
struct ParsedText {
  std::vector<Line> lines;
  size_t bad_lines = 0;
  size_t bad_bytes = 0;  // the size of these lines
};

ParsedText<KallsymsLine> parse_kallsyms(std::string_view text);
ParsedText<ModulesLine> parse_modules(std::string_view text);

}  // namespace a2n

#endif  // A2N_KALLSYMS_H
