// SPDX-License-Identifier: MIT
// The files that hookit writes.
#ifndef PI_HOOKIT_LOGS_H
#define PI_HOOKIT_LOGS_H

#include <string>
#include <string_view>

#include <pi/result.h>

#include "log_file.h"
#include "options.h"

namespace pi::hookit {

// "PATH/PREFIX-KIND.N_PID SUFFIX", as JProf's.
std::string log_name(const Options& options, std::string_view kind, unsigned number, int pid);

// Writes a file of that name; one that exists is renamed to NAME.old.
Status write_log(const std::string& path, std::string_view text,
                 jprof::LogFile::ChosenBy options = jprof::LogFile::by_log_options);

// The first lines of a report: version, program, process, host, time.
std::string log_heading(int pid);

}  // namespace pi::hookit

#endif  // PI_HOOKIT_LOGS_H
