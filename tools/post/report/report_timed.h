// SPDX-License-Identifier: MIT
// Writes the files of --export that have an axis of time, while the trace is read.
#ifndef POST_REPORT_TIMED_H
#define POST_REPORT_TIMED_H

#include "report.h"
#include "summary.h"
#include "text/sink.h"

namespace post {

// The functions of one format, for its entry in the table of reports.
struct TimedReport {
  MakeSubscriber make;
  std::optional<Lack> (*lack)(const Summary& summary);
  bool (*write)(const Summary& summary, Sink& sink);
  // Of a compressed file, before that; 0 for others.
  uint64_t (*text_bytes)(const Summary& summary);
};

extern const TimedReport chrome_report, ctf_report, firefox_report, perf_script_report,
    perfetto_report;

}  // namespace post

#endif  // POST_REPORT_TIMED_H
