// SPDX-License-Identifier: MIT
// A daemon that keeps resources open between a tool's commands and serves these commands, one
// request after the other, over a private socket.
#ifndef PI_TOOLS_COMMON_SERVICE_H
#define PI_TOOLS_COMMON_SERVICE_H

#include <functional>
#include <string>

#include "service_protocol.h"
#include "service_socket.h"

namespace pi::service {

struct Service {
  Names names;
  std::string path;  // of the socket
  // Runs first, in the new process, which ends if this fails. The caller of start_service() gets
  // the reply.
  std::function<Reply()> begin;
  // Answers one request; asked_to_end becomes true for the last one.
  std::function<Reply(const Request& request, bool& asked_to_end)> answer;
  // Releases the resources.
  std::function<void()> end;
};

// The reply's code when the service runs already; not one of perfutil.h.
constexpr int already_runs = -1001;

// Starts the process, detached from terminal and caller, and waits until it listens, or has failed
// and ended. The reply is begin()'s, or an error message.
Reply start_service(const Service& service);

// Sends one request to the service at path and returns its reply. Error: there was no reply.
Result<Reply> ask_service(const std::string& path, const Names& names, const Request& request);

}  // namespace pi::service

#endif  // PI_TOOLS_COMMON_SERVICE_H
