// SPDX-License-Identifier: MIT
// What the recorder does for requests that are about ITrace.
#ifndef PI_SWTRACE_ITRACE_REQUESTS_H
#define PI_SWTRACE_ITRACE_REQUESTS_H

#include <optional>

#include "protocol.h"

namespace pi::swtrace {

// Nothing when the request is not one of them.
std::optional<Reply> answer_itrace(const Request& request);

}  // namespace pi::swtrace

#endif  // PI_SWTRACE_ITRACE_REQUESTS_H
