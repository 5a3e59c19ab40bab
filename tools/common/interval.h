// SPDX-License-Identifier: MIT
// Waits for the next sample of a series, until a signal ends the series.
#ifndef PI_TOOLS_COMMON_INTERVAL_H
#define PI_TOOLS_COMMON_INTERVAL_H

#include <csignal>
#include <ctime>

namespace pi::cli {

// Blocks SIGINT, SIGQUIT and SIGTERM from now on, so that none is missed between two waits; returns
// their set.
sigset_t hold_signals();

// Waits until that time of CLOCK_MONOTONIC; false if a signal of `ending` arrives before.
bool sleep_until(const timespec& end, const sigset_t& ending);

}  // namespace pi::cli

#endif  // PI_TOOLS_COMMON_INTERVAL_H
