// SPDX-License-Identifier: MIT
// Writes the files of --export that have an axis of time, while the trace is read.
#ifndef POST_REPORT_TIMED_H
#define POST_REPORT_TIMED_H

#include "report.h"
#include "summary.h"
#include "text/sink.h"

namespace post {

std::unique_ptr<Subscriber> make_chrome(const ReportContext& context, Sink* sink);
std::optional<Lack> lack_of_chrome(const Summary& summary);
bool end_chrome(const Summary& summary, Sink& sink);

std::unique_ptr<Subscriber> make_ctf(const ReportContext& context, Sink* sink);
std::optional<Lack> lack_of_ctf(const Summary& summary);
bool end_ctf(const Summary& summary, Sink& sink);

std::unique_ptr<Subscriber> make_firefox(const ReportContext& context, Sink* sink);
std::optional<Lack> lack_of_firefox(const Summary& summary);
bool end_firefox(const Summary& summary, Sink& sink);

std::unique_ptr<Subscriber> make_perfetto(const ReportContext& context, Sink* sink);
std::optional<Lack> lack_of_perfetto(const Summary& summary);
bool end_perfetto(const Summary& summary, Sink& sink);

std::unique_ptr<Subscriber> make_perf_script(const ReportContext& context, Sink* sink);
bool end_perf_script(const Summary& summary, Sink& sink);

}  // namespace post

#endif  // POST_REPORT_TIMED_H
