// SPDX-License-Identifier: MIT
// Where processes that write user hooks find a recorder that has perf as its source.
#ifndef PI_PERFUTIL_HOOK_SOCKET_H
#define PI_PERFUTIL_HOOK_SOCKET_H

namespace pi::perfutil {

// PITRACE_SOCKET with ".hooks" behind it, else "hooks" in this user's directory for sockets. Found
// out when the library is loaded, so that a signal handler may ask; empty before, and when it is
// too long for a socket.
const char* hook_socket_path();

}  // namespace pi::perfutil

#endif  // PI_PERFUTIL_HOOK_SOCKET_H
