// SPDX-License-Identifier: MIT
// Writes tprof.parquet and tprof.stacks.parquet. docs/parquet.md describes their columns.
#ifndef POST_REPORT_PARQUET_H
#define POST_REPORT_PARQUET_H

#include "report.h"
#include "summary.h"
#include "text/sink.h"

namespace post {

// Makes what writes the rows of tprof.parquet while the trace is read.
std::unique_ptr<Subscriber> make_parquet(const ReportContext& context, Sink* sink);
std::optional<Lack> lack_of_rows(const Summary& summary);
// Writes the losses and the end of tprof.parquet.
bool end_parquet(const Summary& summary, Sink& sink);
bool write_parquet_stacks(const Summary& summary, Sink& sink);

}  // namespace post

#endif  // POST_REPORT_PARQUET_H
