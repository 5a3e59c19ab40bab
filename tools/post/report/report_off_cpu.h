// SPDX-License-Identifier: MIT
// tprof.offcpu: where threads spent the time in which they did not run.
#ifndef POST_REPORT_OFF_CPU_H
#define POST_REPORT_OFF_CPU_H

#include <string>
#include <vector>

#include "read/losses.h"
#include "summary.h"
#include "text/sink.h"

namespace post {

// What the times do not tell.
std::vector<LeadAndText> off_cpu_sentences(const OffCpu& off_cpu);

// Nanoseconds below which rows are left out.
uint64_t clip_time(const Summary& summary);

// False when something could not be written. Of a summary with off_cpu.
bool write_off_cpu(const Summary& summary, Sink& sink);

}  // namespace post

#endif  // POST_REPORT_OFF_CPU_H
