// SPDX-License-Identifier: MIT
// The socket of a service, and how each side checks the identity of the other.
#ifndef PI_TOOLS_COMMON_SERVICE_SOCKET_H
#define PI_TOOLS_COMMON_SERVICE_SOCKET_H

#include <string>
#include <string_view>

#include <pi/result.h>
#include <pi/unique_fd.h>

namespace pi::service {

// The name of a service in messages, and its socket.
struct Names {
  const char* socket;    // the socket's file
  const char* variable;  // the environment variable that names another socket
  const char* server;    // "recorder"
  const char* holds;     // what is lost when it is killed: "trace"
  const char* start;     // the command that starts one
  const char* end;       // and the one that ends it
};

// The socket's path: the environment variable, else the file in a directory of mode 0700 that
// belongs to this user and is created if necessary: /run/pitrace for root, pitrace below
// $XDG_RUNTIME_DIR or /run/user/UID, /tmp/pitrace-UID. Refuses a directory that another user
// prepared.
Result<std::string> socket_path(const Names& names);

// Connects to a running service of this user or root. The error's message says what to do; its code
// is not_running if there is none.
constexpr int not_running = -2;
Result<UniqueFd> connect_to(const std::string& path, const Names& names);

// One packet; false if it could not be sent whole, or if no packet or a too long one was received.
bool send_packet(int fd, std::string_view packet);
bool receive_packet(int fd, size_t limit, std::string& packet);

}  // namespace pi::service

#endif  // PI_TOOLS_COMMON_SERVICE_SOCKET_H
