// SPDX-License-Identifier: MIT
// Writes the tables of --fleet. docs/fleet.md and docs/parquet.md describe them.
#ifndef POST_REPORT_FLEET_H
#define POST_REPORT_FLEET_H

#include "report.h"
#include "summary.h"
#include "text/sink.h"

namespace post {

// Makes what keeps the sums of the whole trace, so that rows can be sorted by their names.
std::unique_ptr<Subscriber> make_fleet(const ReportContext& context, Sink* sink);
std::optional<Lack> lack_of_fleet(const Summary& summary);
bool write_fleet_frames(const Summary& summary, Sink& sink);
bool write_fleet_stacks(const Summary& summary, Sink& sink);
bool write_fleet_paths(const Summary& summary, Sink& sink);
bool write_fleet_records(const Summary& summary, Sink& sink);

}  // namespace post

#endif  // POST_REPORT_FLEET_H
