// SPDX-License-Identifier: MIT
// The recorder's requests for ITrace.
#ifndef PI_SWTRACE_ITRACE_REQUESTS_H
#define PI_SWTRACE_ITRACE_REQUESTS_H

#include <optional>

#include "protocol.h"

namespace pi::swtrace {

// Nothing if the request is not one of them.
std::optional<Reply> answer_itrace(const Request& request);

}  // namespace pi::swtrace

#endif  // PI_SWTRACE_ITRACE_REQUESTS_H
