// SPDX-License-Identifier: MIT
// Writes the files of --export.
#ifndef POST_REPORT_EXPORT_H
#define POST_REPORT_EXPORT_H

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "report.h"
#include "summary.h"
#include "text/sink.h"

namespace post {

// What the trace lacks or cannot contain, for a file of --export; without control characters.
// guesses: names of functions are marked as such.
std::vector<std::string> remarks_of(const Summary& summary, bool guesses);

// Known before the trace is read: what a tick counts, empty for time; and how many nanoseconds, or
// events, it represents, 0 if that is not known.
std::string tick_event(const TraceInfo& info);
uint64_t amount_per_tick(const TraceInfo& info);

// Of exports of single records. empty: none was to be exported.
std::optional<Lack> lack_of_records(const Summary& summary, bool empty);

bool export_callgrind(const Summary& summary, Sink& sink);
bool export_pprof(const Summary& summary, Sink& sink);
bool export_speedscope(const Summary& summary, Sink& sink);

}  // namespace post

#endif  // POST_REPORT_EXPORT_H
