// SPDX-License-Identifier: MIT
// Writes the files of --export.
#ifndef POST_REPORT_EXPORT_H
#define POST_REPORT_EXPORT_H

#include "summary.h"
#include "text/sink.h"

namespace post {

bool export_callgrind(const Summary& summary, Sink& sink);
bool export_pprof(const Summary& summary, Sink& sink);
bool export_speedscope(const Summary& summary, Sink& sink);

}  // namespace post

#endif  // POST_REPORT_EXPORT_H
