// SPDX-License-Identifier: MIT
// What Agent_OnAttach() returns besides 0, which pitrace-attach shows.
#ifndef PI_JPROF_RETURN_CODES_H
#define PI_JPROF_RETURN_CODES_H

namespace pi::jprof {

enum ReturnCode : int {
  wrong_options = 1,
  no_logs = 2,         // they cannot be written
  already_active = 3,  // with other options
  no_events = 4,       // this JVM lacks events that are needed
};

}  // namespace pi::jprof

#endif  // PI_JPROF_RETURN_CODES_H
