// SPDX-License-Identifier: MIT
// The path of the socket at which a recorder with perf as its source accepts user hooks.
#ifndef PI_PERFUTIL_HOOK_SOCKET_H
#define PI_PERFUTIL_HOOK_SOCKET_H

namespace pi::perfutil {

// PITRACE_SOCKET with ".hooks" appended, else "hooks" in this user's directory for sockets. Set
// when the library is loaded, so that a signal handler may call this; empty before, and when the
// path is too long for a socket.
const char* hook_socket_path();

}  // namespace pi::perfutil

#endif  // PI_PERFUTIL_HOOK_SOCKET_H
