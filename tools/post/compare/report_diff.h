// SPDX-License-Identifier: MIT
// Writes the comparison of post --diff: a table for people, and JSON for programs.
#ifndef POST_REPORT_DIFF_H
#define POST_REPORT_DIFF_H

#include "diff.h"
#include "text/sink.h"

namespace post {

// False when something could not be written.
bool write_diff(const Diff& diff, Sink& sink);
bool write_diff_json(const Diff& diff, Sink& sink);

}  // namespace post

#endif  // POST_REPORT_DIFF_H
