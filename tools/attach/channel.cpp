// SPDX-License-Identifier: MIT
// Packets from the process that acts as the target's user to its parent, which believes none of it.
#include "channel.h"

#include <poll.h>
#include <sys/socket.h>

#include <cerrno>

namespace pi::attach {

bool send_packet(int channel, PacketKind kind, std::string_view payload) {
  std::string packet(1, static_cast<char>(kind));
  packet += payload.substr(0, max_payload_bytes);
  for (;;) {
    if (::send(channel, packet.data(), packet.size(), MSG_NOSIGNAL) >= 0) return true;
    if (errno != EINTR) return false;
  }
}

std::optional<Packet> receive_packet(int channel, const Deadline& deadline) {
  std::string bytes(max_payload_bytes + 1, '\0');
  while (!deadline.is_over()) {
    pollfd waiting{channel, POLLIN, 0};
    const int ready = ::poll(&waiting, 1, deadline.poll_ms());
    if (ready == 0 || (ready < 0 && errno == EINTR)) continue;
    if (ready < 0) return std::nullopt;
    const ssize_t got = ::recv(channel, bytes.data(), bytes.size(), MSG_DONTWAIT);
    if (got < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    if (got <= 0) return std::nullopt;
    return Packet{static_cast<PacketKind>(bytes[0]), bytes.substr(1, static_cast<size_t>(got) - 1)};
  }
  return std::nullopt;
}

}  // namespace pi::attach
