// SPDX-License-Identifier: MIT
// The daemon that keeps counters open from 'mpevt start' to 'mpevt term'.
#ifndef PI_MPEVT_DAEMON_H
#define PI_MPEVT_DAEMON_H

#include "service.h"

namespace pi::mpevt {

inline constexpr service::Names daemon_names{"counters", "PITRACE_COUNTERS",  "counter daemon",
                                             "counts",   "mpevt start EVENT", "mpevt term"};

// Names of the privileges in options, from PI_PRIV_KERNEL on.
inline constexpr const char* privilege_names[] = {"kernel", "user", "both"};

// Starts the daemon with a first request and returns the reply to it.
service::Reply start_daemon(const std::string& path, const service::Request& first);

// Answers one request: start PRIV NAME..., stop, reset, term, each with NAME... or for all, read
// NAME, list, define FILE. The daemon ends with its last event.
service::Reply answer(const service::Request& request, bool& asked_to_end);

}  // namespace pi::mpevt

#endif  // PI_MPEVT_DAEMON_H
