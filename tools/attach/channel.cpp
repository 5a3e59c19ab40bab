// SPDX-License-Identifier: MIT
// Packets from the process that acts as the target's user to its parent, which does not trust them.
#include "channel.h"

#include <sys/socket.h>

#include <cerrno>

#include <pi/uninterrupted.h>

namespace pi::attach {

bool send_packet(int channel, PacketKind kind, std::string_view payload) {
  std::string packet(1, static_cast<char>(kind));
  packet += payload.substr(0, max_payload_bytes);
  return uninterrupted(
             [&] { return ::send(channel, packet.data(), packet.size(), MSG_NOSIGNAL); }) >= 0;
}

std::optional<Packet> receive_packet(int channel, const Deadline& deadline) {
  std::string bytes(max_payload_bytes + 1, '\0');
  for (;;) {
    pollfd waiting{channel, POLLIN, 0};
    if (poll_until({&waiting, 1}, deadline) <= 0) return std::nullopt;
    const ssize_t got =
        uninterrupted([&] { return ::recv(channel, bytes.data(), bytes.size(), MSG_DONTWAIT); });
    if (got < 0 && errno == EAGAIN) continue;
    if (got <= 0) return std::nullopt;
    return Packet{static_cast<PacketKind>(bytes[0]), bytes.substr(1, static_cast<size_t>(got) - 1)};
  }
}

}  // namespace pi::attach
