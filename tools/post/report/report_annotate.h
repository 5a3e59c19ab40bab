// SPDX-License-Identifier: MIT
// Prints annotated source: the lines of functions with their ticks, and their instructions.
#ifndef POST_REPORT_ANNOTATE_H
#define POST_REPORT_ANNOTATE_H

#include <pi/result.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "analysis/micro.h"
#include "summary.h"

namespace post {

// Layout of the annotated source.
struct AnnotationStyle {
  size_t width = 80;         // columns that sentences take
  size_t line_width = 1000;  // columns that lines of source and instructions take; the rest is cut
  bool colour = false;
  bool utf8 = false;
};

// Returns the annotated source of the functions that summary.options.annotate names, those with the
// most ticks first; an error if no tick fell on a function of that name. Needs a trace that was
// read with a Micro.
pi::Result<std::string> annotation(const Summary& summary, const AnnotationStyle& style);

struct AnnotationLine {
  std::string text;
  uint64_t ticks = 0;      // of the line of source or the instruction
  std::string place = {};  // the line of source or the instruction, for comparison; else empty
};

// The lines for these functions of the Micro, of whose ticks `whole` are selected.
std::vector<AnnotationLine> annotated_lines(const Summary& summary,
                                            std::span<const Micro::Function> functions,
                                            uint64_t whole, const AnnotationStyle& style);

}  // namespace post

#endif  // POST_REPORT_ANNOTATE_H
