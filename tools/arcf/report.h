// SPDX-License-Identifier: MIT
// Call trees as text, JSON and folded stacks.
#ifndef ARCF_REPORT_H
#define ARCF_REPORT_H

#include <arc/arc_calls.h>

#include <string>

namespace arcf {

using post::ArcCalls;

struct Source {
  std::string file;
  uint64_t lines = 0;      // that were used
  uint64_t malformed = 0;  // that were not
  uint64_t bytes = 0;
};

// A report would take more than most bytes: 64 for each byte of the arc, and 64 MB.
struct TooLarge {
  uint64_t most;
};

// percent: rows with a smaller share of their thread's instructions are left out of the two texts.
// tree_text() and folded_text() throw TooLarge.
std::string tree_text(const ArcCalls& flow, const Source& source, double percent);
std::string function_text(const ArcCalls& flow, const Source& source, double percent);
std::string json_text(const ArcCalls& flow, const Source& source);
std::string folded_text(const ArcCalls& flow, const Source& source);

}  // namespace arcf

#endif  // ARCF_REPORT_H
