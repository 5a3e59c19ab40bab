// SPDX-License-Identifier: MIT
// The daemon that owns a trace from 'swtrace init' to 'swtrace free'.
#ifndef PI_SWTRACE_RECORDER_H
#define PI_SWTRACE_RECORDER_H

#include <cstdint>
#include <string>

#include "protocol.h"
#include "service_socket.h"

namespace pi::swtrace {

inline constexpr service::Names recorder_names{"recorder", "PITRACE_SOCKET", "recorder",
                                               "trace",    "swtrace init",   "swtrace free"};

// The arguments of 'swtrace init'; numbers as in perfutil.h.
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

// Answers one request; asked_to_end becomes true for 'free'.
Reply answer(const Request& request, bool& asked_to_end);

}  // namespace pi::swtrace

#endif  // PI_SWTRACE_RECORDER_H
