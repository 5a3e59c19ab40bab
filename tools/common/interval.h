// SPDX-License-Identifier: MIT
// Waiting for the next moment of a series, until a signal ends it.
#ifndef PI_TOOLS_COMMON_INTERVAL_H
#define PI_TOOLS_COMMON_INTERVAL_H

#include <csignal>
#include <ctime>

namespace pi::cli {

// SIGINT, SIGQUIT and SIGTERM wait from now on until they are asked for, so that none comes too
// early or too late.
sigset_t hold_signals();

// Until that time of CLOCK_MONOTONIC; false when told to end before.
bool sleep_until(const timespec& end, const sigset_t& ending);

}  // namespace pi::cli

#endif  // PI_TOOLS_COMMON_INTERVAL_H
