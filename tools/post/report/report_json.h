// SPDX-License-Identifier: MIT
// Writes tprof.json: the contents of tprof.out, for programs.
#ifndef POST_REPORT_JSON_H
#define POST_REPORT_JSON_H

#include "summary.h"
#include "text/sink.h"

namespace post {

// False when something could not be written.
bool write_json(const Summary& summary, Sink& sink);

}  // namespace post

#endif  // POST_REPORT_JSON_H
