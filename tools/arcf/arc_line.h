// SPDX-License-Identifier: MIT
// Parses one line of an arc, which is untrusted text.
#ifndef ARCF_ARC_LINE_H
#define ARCF_ARC_LINE_H

#include <cstdint>
#include <string_view>

namespace arcf {

enum class Last : uint8_t { interrupt, call, ret, jump, iret, other, undefined, alloc };

// Views into the line.
struct ArcLine {
  enum class Kind : uint8_t { block, thread_change, vector, vector_end, gap };
  Kind kind = Kind::block;
  bool user = false;
  Last last = Last::undefined;
  uint64_t instructions = 0;
  uint64_t offset = 0;
  std::string_view name;  // symbol:module
  std::string_view thread;
};

enum class Parsed : uint8_t {
  line,
  nothing,  // a comment, an instruction, an empty line
  malformed,
};

// Fields are separated by blanks; the name may contain some. The source line may be missing, and
// the ring be 0 or 1, as in arcs of 2003.
Parsed parse_line(std::string_view text, ArcLine& out);

}  // namespace arcf

#endif  // ARCF_ARC_LINE_H
