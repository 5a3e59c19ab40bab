// SPDX-License-Identifier: MIT
// Sends requests to a HotSpot JVM through its attach socket. Runs with the rights of the JVM's user
// only.
#ifndef PI_ATTACH_HOTSPOT_H
#define PI_ATTACH_HOTSPOT_H

#include <string>

#include <pi/deadline.h>
#include <pi/result.h>
#include <pi/unique_fd.h>

#include "target.h"

namespace pi::attach {

constexpr size_t max_reply_bytes = 64 << 10;

class Hotspot {
 public:
  // tmp: /tmp as the JVM sees it; cwd: its working directory. O_PATH descriptors, cwd may be -1.
  Hotspot(const Target& target, int tmp, int cwd) : target_(target), tmp_(tmp), cwd_(cwd) {}

  // Sends a request and returns the reply's bytes. Makes the JVM open its socket if it has none.
  Result<std::string> ask(const std::string& request, const Deadline& deadline) const;

 private:
  // An empty descriptor: there is no socket yet, or no process listens on it.
  Result<UniqueFd> connect_now(const Deadline& deadline) const;
  Result<UniqueFd> connect(const Deadline& deadline) const;
  Status check_peer(int socket) const;
  Status wake_attach_listener() const;
  Status send(int socket, const std::string& request, const Deadline& deadline) const;
  Result<std::string> receive(int socket, const Deadline& deadline) const;
  // Waits until the socket is ready. Fails when the process ends, or at the deadline.
  Status wait_for(int socket, short events, const Deadline& deadline) const;
  Error no_answer() const;

  const Target& target_;
  int tmp_, cwd_;
};

}  // namespace pi::attach

#endif  // PI_ATTACH_HOTSPOT_H
