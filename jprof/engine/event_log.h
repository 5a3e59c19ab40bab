// SPDX-License-Identifier: MIT
// log-gen: a line for each event. While recording, threads append their events in binary to a file;
// afterwards it is converted into text.
#ifndef PI_CALLFLOW_EVENT_LOG_H
#define PI_CALLFLOW_EVENT_LOG_H

#include <cstdint>
#include <string>

#include <pi/result.h>
#include <pi/unique_fd.h>

#include "report.h"

namespace pi::callflow {

// Creates the file of events, without a name, so that nothing is left of it after a crash: path is
// that of a log in the same directory.
pi::Result<pi::UniqueFd> create_event_log(const std::string& path);

// Appends to the file of events what threads have not yet written. After stop() and before the
// snapshot. wait: other threads run, so that those that are still inside an event are waited for,
// at most a second; what then remains unwritten is counted as lost.
void flush_event_log(bool wait = true);

// Writes to the descriptor out, from the file of events (Settings::event_log), which is open for
// reading too: the heading, the line " Units :: METRIC+METRIC", a line " 0 pidtid TID_NAME" before
// the first event of each thread, and for each event its differences since the thread's event
// before, '>' entry or '<' exit, the method and the thread. Threads follow each other in blocks, in
// the order in which the blocks were full. Differences are calibrated with the minima that were
// known at the event, those of calibration and those before it in the file. The error's code is an
// error number.
pi::Status log_gen(int events, int out, const Snapshot& snapshot, const Calibration& calibration,
                   const ReportSettings& settings, const NameOf& name_of);

// The same contents, without heading, as JSON with schema_version 1; log-rt(5) lists its keys.
pi::Status log_gen_json(int events, int out, const Snapshot& snapshot,
                        const Calibration& calibration, const ReportSettings& settings,
                        const NameOf& name_of);

}  // namespace pi::callflow

#endif  // PI_CALLFLOW_EVENT_LOG_H
