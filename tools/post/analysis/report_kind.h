// SPDX-License-Identifier: MIT
// The levels by which a report groups ticks.
#ifndef POST_REPORT_KIND_H
#define POST_REPORT_KIND_H

#include <string>
#include <vector>

#include "sample_tree.h"

namespace post {

struct ReportKind {
  std::string title;          // "Process_Module"
  std::vector<Level> levels;  // from the outside in
};

}  // namespace post

#endif  // POST_REPORT_KIND_H
