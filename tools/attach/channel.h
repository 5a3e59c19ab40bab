// SPDX-License-Identifier: MIT
// Packets from the process that acts as the target's user to its parent, which does not trust them.
#ifndef PI_ATTACH_CHANNEL_H
#define PI_ATTACH_CHANNEL_H

#include <optional>
#include <string>
#include <string_view>

#include <pi/deadline.h>

namespace pi::attach {

constexpr size_t max_payload_bytes = 32 << 10;

enum class PacketKind : char {
  failed = 'E',      // the last packet: what failed, and why
  note = 'N',        // a sentence for the user
  loaded = 'L',      // the agent is in the JVM
  reply = 'R',       // what the JVM answered
  log_begins = 'B',  // the payload is one digit, the log's kind
  log_bytes = 'D',
  log_ends = 'C',  // everything of this log was sent
  done = 'X',      // the last packet
};

struct Packet {
  PacketKind kind;
  std::string payload;
};

// False: the parent has ended.
bool send_packet(int channel, PacketKind kind, std::string_view payload = {});

// Nothing: the child has ended, the deadline has passed, or the packet is malformed.
std::optional<Packet> receive_packet(int channel, const Deadline& deadline);

}  // namespace pi::attach

#endif  // PI_ATTACH_CHANNEL_H
