// SPDX-License-Identifier: MIT
// The part of the service protocol that swtrace's commands and its recorder use.
#ifndef PI_SWTRACE_PROTOCOL_H
#define PI_SWTRACE_PROTOCOL_H

#include "service_protocol.h"

namespace pi::swtrace {

using service::Reply;
using service::Request;
using service::value_of;
using service::values_of;

}  // namespace pi::swtrace

#endif  // PI_SWTRACE_PROTOCOL_H
