// SPDX-License-Identifier: MIT
// Writes the text above and below the lines of an arc.
#ifndef POST_REPORT_ARC_H
#define POST_REPORT_ARC_H

#include <string>

#include "arc/arc.h"
#include "arc/arc_totals.h"
#include "report.h"
#include "summary.h"

namespace post {

// The length of the head does not depend on the totals: it is written twice, first to reserve its
// space, and again when the totals are known.
std::string arc_head(const TraceFile& file, const ArcOptions& options, const ArcTotals& totals);

std::string arc_end(const Summary& summary, const ArcTotals& totals);

// The lines of the arc are written while the trace is read, the frame afterwards: the end, and the
// head again.
std::unique_ptr<Subscriber> make_arc(const ReportContext& context, Sink* sink);
std::optional<Lack> lack_of_branches(const Summary& summary);
bool write_arc_frame(const Summary& summary, Sink& sink);

}  // namespace post

#endif  // POST_REPORT_ARC_H
