// SPDX-License-Identifier: MIT
// What post prints about a trace besides the reports.
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

// A line for each process of another pid namespace, for someone inside a container, who knows it by
// another id.
std::string inner_facts(const std::deque<ProcessLifetime>& lifetimes, const StringTable& names);

// What is wrong with the trace at path: damage, then losses; a sentence each.
std::vector<std::string> trace_warnings(const std::string& path, const TraceFile& file,
                                        const DamageLog& damage, const Losses& losses);

}  // namespace post

#endif  // POST_MESSAGES_H
