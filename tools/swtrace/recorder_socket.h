// SPDX-License-Identifier: MIT
// Where a user's recorder listens, and how both sides make sure who is at the other end.
#ifndef PI_SWTRACE_RECORDER_SOCKET_H
#define PI_SWTRACE_RECORDER_SOCKET_H

#include <string>
#include <string_view>

#include <pi/result.h>
#include <pi/unique_fd.h>

namespace pi::swtrace {

// The socket's path. Environment PITRACE_SOCKET, else "recorder" in a directory of mode 0700 that
// belongs to this user and is made here if need be: /run/pitrace for root, pitrace below
// $XDG_RUNTIME_DIR or /run/user/UID, /tmp/pitrace-UID. Refuses a directory that somebody else
// prepared.
Result<std::string> socket_path();

// Connects to a live recorder of this user or root. The error's message tells what to do.
Result<UniqueFd> connect_to(const std::string& path);

// One packet; false when it could not be sent whole or nothing (or too much) came.
bool send_packet(int fd, std::string_view packet);
bool receive_packet(int fd, size_t limit, std::string& packet);

}  // namespace pi::swtrace

#endif  // PI_SWTRACE_RECORDER_SOCKET_H
