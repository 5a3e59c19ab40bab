// SPDX-License-Identifier: MIT
// Call trees as text, JSON and folded stacks.
#ifndef ARCF_REPORT_H
#define ARCF_REPORT_H

#include <string>

#include "call_flow.h"

namespace arcf {

struct Source {
  std::string file;
  uint64_t lines = 0;      // that were used
  uint64_t malformed = 0;  // that were not
};

// percent: rows with a smaller share of their thread's instructions are left out of the two texts.
std::string tree_text(const CallFlow& flow, const Source& source, double percent);
std::string function_text(const CallFlow& flow, const Source& source, double percent);
std::string json_text(const CallFlow& flow, const Source& source);
std::string folded_text(const CallFlow& flow);

}  // namespace arcf

#endif  // ARCF_REPORT_H
