// SPDX-License-Identifier: MIT
// Writes the head of all text reports: the machine, the kind of ticks, the source of the trace and
// its losses.
#ifndef POST_REPORT_HEAD_H
#define POST_REPORT_HEAD_H

#include <string>
#include <vector>

#include "summary.h"

namespace post {

// The head of a report on ticks.
std::string report_head(const Summary& summary, const std::string& title);

// The head of a report on a time in nanoseconds.
std::string report_head(const Summary& summary, const std::string& title, uint64_t time);

// The parts of a head: the machine ("unknown" if the trace does not contain it), the kind of ticks,
// and sentences on the source of the trace, on what it cannot see, on what is selected, and on
// losses.
std::string platform_text(const TraceInfo& info);
std::string mode_text(const Summary& summary);
std::vector<LeadAndText> origin_sentences(const Summary& summary);

// The sentences at the end of every report: damage of the trace, and why names are missing.
std::vector<LeadAndText> end_sentences(const Summary& summary);

// The last lines of every report: damage of the trace, and why names are missing.
std::string report_end(const Summary& summary);

// The clipping level in percent.
std::string clip_text(const Summary& summary);

// What 100 % is in the reports. It differs from the page's.
std::string percentages_of(const Summary& summary);

// The number of ticks, and how many a row must have.
std::string tick_totals(const Summary& summary);

}  // namespace post

#endif  // POST_REPORT_HEAD_H
