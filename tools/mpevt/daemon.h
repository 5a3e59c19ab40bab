// SPDX-License-Identifier: MIT
// The process that holds counters from 'mpevt start' to 'mpevt term'.
#ifndef PI_MPEVT_HOLDER_H
#define PI_MPEVT_HOLDER_H

#include "service.h"

namespace pi::mpevt {

inline constexpr service::Names holder_names{"counters", "PITRACE_COUNTERS",  "counter holder",
                                             "counts",   "mpevt start EVENT", "mpevt term"};

// Privileges by the names that users give them, from PI_PRIV_KERNEL on.
inline constexpr const char* privilege_names[] = {"kernel", "user", "both"};

// Starts a holder with a first request, whose reply it is.
service::Reply start_holder(const std::string& path, const service::Request& first);

// Answers one request: start PRIV NAME..., stop, reset, term, each with NAME... or for all,
// read NAME, list, define FILE. The last event's end is the holder's.
service::Reply answer(const service::Request& request, bool& asked_to_end);

}  // namespace pi::mpevt

#endif  // PI_MPEVT_HOLDER_H
