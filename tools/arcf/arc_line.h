// SPDX-License-Identifier: MIT
// Parses one line of an arc, which is untrusted text.
#ifndef ARCF_ARC_LINE_H
#define ARCF_ARC_LINE_H

#include <arc/arc_lines.h>

#include <cstdint>
#include <string_view>

namespace arcf {

enum class Parsed : uint8_t {
  line,
  nothing,  // a comment, an instruction, an empty line
  malformed,
};

// Fields are separated by blanks; the name may contain some. The source line may be missing, and
// the ring be 0 or 1, as in arcs of 2003. out: has views into the line; its CPU and numbers of the
// source are not read.
Parsed parse_line(std::string_view text, post::ArcLine& out);

}  // namespace arcf

#endif  // ARCF_ARC_LINE_H
