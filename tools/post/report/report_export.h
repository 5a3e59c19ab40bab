// SPDX-License-Identifier: MIT
// Writes the files of --export.
#ifndef POST_REPORT_EXPORT_H
#define POST_REPORT_EXPORT_H

#include <optional>
#include <string>
#include <vector>

#include "report.h"
#include "summary.h"
#include "text/sink.h"

namespace post {

// What the trace lacks or cannot contain, for a file of --export; without control characters.
std::vector<std::string> remarks_of(const Summary& summary);

// Of exports of single records. empty: there were none.
std::optional<Lack> lack_of_records(bool empty);

bool export_callgrind(const Summary& summary, Sink& sink);
bool export_pprof(const Summary& summary, Sink& sink);
bool export_speedscope(const Summary& summary, Sink& sink);

}  // namespace post

#endif  // POST_REPORT_EXPORT_H
