// SPDX-License-Identifier: MIT
// The process that holds a trace from 'swtrace init' to 'swtrace free'.
#ifndef PI_SWTRACE_RECORDER_H
#define PI_SWTRACE_RECORDER_H

#include <cstdint>
#include <string>

#include "protocol.h"

namespace pi::swtrace {

// What 'swtrace init' asks for; numbers as perfutil.h has them.
struct InitRequest {
  int source = 0;
  int scope = 0;
  int pid = 0;
  uint32_t trace_bytes = 0;
  uint32_t mte_bytes = 0;
  int mode = 0;
  uint32_t section_bytes = 0;
  std::string file;  // absolute
  bool anonymous = true;
};

// Starts a recorder that listens at path, detached from terminal and caller, and waits until it
// has initialised the trace (or failed to, and ended). The reply is what the recorder reports.
Reply start_recorder(const InitRequest& request, const std::string& path);

// The recorder's own process: initialises, reports to report_fd, serves requests until 'free' or
// a signal to end. Returns its exit status.
int run_recorder(const InitRequest& request, const std::string& path, int report_fd);

// Answers one request; asked_to_end becomes true for 'free'.
Reply answer(const Request& request, bool& asked_to_end);

}  // namespace pi::swtrace

#endif  // PI_SWTRACE_RECORDER_H
