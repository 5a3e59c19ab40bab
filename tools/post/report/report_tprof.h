// SPDX-License-Identifier: MIT
// Writes tprof.out: the reports on ticks as text.
#ifndef POST_REPORT_TPROF_H
#define POST_REPORT_TPROF_H

#include "summary.h"
#include "text/sink.h"

namespace post {

// False when something could not be written.
bool write_tprof(const Summary& summary, Sink& sink);

}  // namespace post

#endif  // POST_REPORT_TPROF_H
