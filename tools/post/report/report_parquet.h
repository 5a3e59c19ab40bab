// SPDX-License-Identifier: MIT
// Writes tprof.parquet and tprof.stacks.parquet. docs/parquet.md describes their columns.
#ifndef POST_REPORT_PARQUET_H
#define POST_REPORT_PARQUET_H

#include <map>
#include <string>
#include <vector>

#include "report.h"
#include "summary.h"
#include "text/sink.h"

namespace post {

// Makes what writes the rows of tprof.parquet while the trace is read.
std::unique_ptr<Subscriber> make_parquet(const ReportContext& context, Sink* sink);
// The same for --fleet, instead of --export parquet.
std::unique_ptr<Subscriber> make_fleet(const ReportContext& context, Sink* sink);
std::optional<Lack> lack_of_rows(const Summary& summary);
// Writes the losses and the end of tprof.parquet.
bool end_parquet(const Summary& summary, Sink& sink);
// The innermost systemd service in the path of a control group; without one the innermost group: a
// scope, or a container. Empty for the root.
std::string service_of(const std::string& cgroup);
// The build-id of each path with only one; empty where it is not known.
std::map<std::string, std::string> ids_by_path(const std::vector<BuildId>& build_ids);
bool write_parquet_stacks(const Summary& summary, Sink& sink);

}  // namespace post

#endif  // POST_REPORT_PARQUET_H
