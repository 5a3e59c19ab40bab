// SPDX-License-Identifier: MIT
// What a report groups ticks by.
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
