// SPDX-License-Identifier: MIT
// log-gen: a line for each event. While recording, threads append their events in binary to a file;
// afterwards it is converted into text.
#ifndef PI_CALLFLOW_EVENT_LOG_H
#define PI_CALLFLOW_EVENT_LOG_H

#include <cstdint>
#include <string_view>

#include <pi/result.h>

#include "report.h"

namespace pitrace::callflow {

// Writes to the descriptor out, from the events in the descriptor events (Settings::event_log):
// heading, the line "Units :: METRIC+METRIC", a line " 0 pidtid TID_NAME" for each thread, and for
// each event its differences since the thread's last one, '>' entry or '<' exit, the method and the
// thread. Threads follow each other in blocks, whose order is that in which they were full.
// Differences are calibrated with the minima that were known at the event. The error's code is an
// error number.
pi::Status log_gen(int events, int out, const Snapshot& snapshot, const ReportSettings& settings,
                   const NameOf& name_of);

}  // namespace pitrace::callflow

#endif  // PI_CALLFLOW_EVENT_LOG_H
