// SPDX-License-Identifier: MIT
// Writes tprof.otlp.gz, for --export otlp.
#ifndef POST_REPORT_OTLP_H
#define POST_REPORT_OTLP_H

#include <memory>

#include "report.h"
#include "summary.h"
#include "text/sink.h"

namespace post {

std::unique_ptr<Subscriber> make_otlp(const ReportContext& context, Sink* sink);
bool write_otlp_report(const Summary& summary, Sink& sink);

}  // namespace post

#endif  // POST_REPORT_OTLP_H
