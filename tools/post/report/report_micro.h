// SPDX-License-Identifier: MIT
// tprof.micro: ticks by instruction, with the code and its source lines.
#ifndef POST_REPORT_MICRO_H
#define POST_REPORT_MICRO_H

#include "summary.h"
#include "text/sink.h"

namespace post {

// False when something could not be written. Of a summary with micro.
bool write_micro(const Summary& summary, Sink& sink);

}  // namespace post

#endif  // POST_REPORT_MICRO_H
