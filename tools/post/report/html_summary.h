// SPDX-License-Identifier: MIT
// The summary at the beginning of the HTML page's data: facts on the trace, and what it lacks.
#ifndef POST_HTML_SUMMARY_H
#define POST_HTML_SUMMARY_H

#include "analysis/paths_by_time.h"
#include "json.h"
#include "summary.h"

namespace post {

// An object, whose members become members of the data.
pi::Json html_summary(const Summary& summary, const PathsByTime& ticks);

}  // namespace post

#endif  // POST_HTML_SUMMARY_H
