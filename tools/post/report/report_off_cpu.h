// SPDX-License-Identifier: MIT
// Writes tprof.offcpu: the waits of threads, with stacks, reasons and wakers.
#ifndef POST_REPORT_OFF_CPU_H
#define POST_REPORT_OFF_CPU_H

#include <string>
#include <vector>

#include "analysis/off_cpu.h"
#include "read/losses.h"
#include "report.h"
#include "summary.h"
#include "text/sink.h"

namespace post {

// Sentences on what the times do not include.
std::vector<LeadAndText> off_cpu_sentences(const OffCpu& off_cpu);

// Rows with fewer nanoseconds are omitted. The summary must have an OffCpu.
uint64_t clip_time(const Summary& summary);

// Makes an OffCpu.
std::unique_ptr<Subscriber> make_off_cpu(const ReportContext& context, Sink*);
std::optional<Lack> lack_of_dispatches(const Summary& summary);
bool write_off_cpu(const Summary& summary, Sink& sink);

}  // namespace post

#endif  // POST_REPORT_OFF_CPU_H
