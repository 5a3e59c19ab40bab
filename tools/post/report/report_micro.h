// SPDX-License-Identifier: MIT
// Writes tprof.micro: ticks by instruction, with the code and its source lines.
#ifndef POST_REPORT_MICRO_H
#define POST_REPORT_MICRO_H

#include "report.h"
#include "summary.h"
#include "text/sink.h"

namespace post {

// Makes a Micro.
std::unique_ptr<Subscriber> make_micro(const ReportContext& context, Sink*);
bool write_micro(const Summary& summary, Sink& sink);

}  // namespace post

#endif  // POST_REPORT_MICRO_H
