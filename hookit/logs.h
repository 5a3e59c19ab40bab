// SPDX-License-Identifier: MIT
// The files that hookit writes.
#ifndef PI_HOOKIT_LOGS_H
#define PI_HOOKIT_LOGS_H

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include <pi/result.h>

#include "log_file.h"
#include "options.h"
#include "report.h"

namespace pi::hookit {

// "PATH/PREFIX-KIND.N_PID SUFFIX", as JProf's.
std::string log_name(const Options& options, std::string_view kind, unsigned number, int pid);

// Writes a file of that name; one that exists is renamed to NAME.old. format passes the parts to
// the sink and returns its error number.
Status write_log(const std::string& path,
                 const std::function<int(const pi::callflow::Sink&)>& format,
                 jprof::LogFile::ChosenBy options = jprof::LogFile::by_log_options);

// The first lines of a report: version, program, process, host, time, and notes about minima.
std::string log_heading(int pid, const std::vector<std::string>& minima_notes);

}  // namespace pi::hookit

#endif  // PI_HOOKIT_LOGS_H
