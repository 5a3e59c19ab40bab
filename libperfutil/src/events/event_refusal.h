// SPDX-License-Identifier: MIT
// Why the kernel refused an event, in words.
#ifndef PI_PERFUTIL_EVENT_REFUSAL_H
#define PI_PERFUTIL_EVENT_REFUSAL_H

#include <string>

#include <pi/result.h>

namespace pi::perfutil {

// Why the kernel refused an event with this error number: part of a sentence.
std::string refusal_reason(int error);

// The same as an error, with a remedy.
Error refused_event(int error, const std::string& name);

}  // namespace pi::perfutil

#endif  // PI_PERFUTIL_EVENT_REFUSAL_H
