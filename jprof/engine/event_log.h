// SPDX-License-Identifier: MIT
// log-gen: a line for each event. While recording, threads append their events in binary to a file;
// afterwards it is converted into text.
#ifndef PI_CALLFLOW_EVENT_LOG_H
#define PI_CALLFLOW_EVENT_LOG_H

#include <pi/result.h>

#include "report.h"

namespace pi::callflow {

// Appends to the file of events what threads have not yet written. After stop(), when no other
// thread is inside an event.
void flush_event_log();

// Writes to the descriptor out, from the file of events (Settings::event_log), which is open for
// reading too: the heading, the line " Units :: METRIC+METRIC", a line " 0 pidtid TID_NAME" before
// the first event of each thread, and for each event its differences since the thread's event
// before, '>' entry or '<' exit, the method and the thread. Threads follow each other in blocks, in
// the order in which the blocks were full. Differences are calibrated with the minima that were
// known at the event, those of calibration and those before it in the file. The error's code is an
// error number.
pi::Status log_gen(int events, int out, const Snapshot& snapshot, const Calibration& calibration,
                   const ReportSettings& settings, const NameOf& name_of);

}  // namespace pi::callflow

#endif  // PI_CALLFLOW_EVENT_LOG_H
