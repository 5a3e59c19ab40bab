// SPDX-License-Identifier: MIT
// The messages that post prints about a trace, in addition to the reports.
#ifndef POST_MESSAGES_H
#define POST_MESSAGES_H

#include <deque>
#include <string>
#include <vector>

#include "read/losses.h"
#include "read/record_totals.h"
#include "state/processes.h"
#include "text/string_table.h"

namespace post {

// A line for each buffer and each major code in the trace, for -verbose.
std::string trace_facts(const TraceFile& file, const RecordTotals& totals);

// One line per process of another PID namespace: inside its container it has another id.
std::string inner_facts(const std::deque<ProcessLifetime>& lifetimes, const StringTable& names);

// Sentences on the damage of the trace at path, then on its losses.
std::vector<std::string> trace_warnings(const std::string& path, const TraceFile& file,
                                        const DamageLog& damage, const Losses& losses);

}  // namespace post

#endif  // POST_MESSAGES_H
