// SPDX-License-Identifier: MIT
// Packets of a Unix socket that carry file descriptors (unix(7), SCM_RIGHTS).
#ifndef PI_DESCRIPTOR_PACKET_H
#define PI_DESCRIPTOR_PACKET_H

#include <sys/socket.h>

#include <array>
#include <cstddef>
#include <cstring>
#include <span>

#include <pi/uninterrupted.h>
#include <pi/unique_fd.h>

namespace pi {

// Sends one packet with copies of the descriptors; the caller keeps its own. flags: of sendmsg().
// False: nothing was sent.
template <size_t Count>
bool send_with_descriptors(int socket, std::span<const std::byte> packet,
                           const std::array<int, Count>& fds, int flags) {
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof fds)]{};
  iovec part{const_cast<std::byte*>(packet.data()), packet.size()};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = sizeof control;
  cmsghdr* const first = CMSG_FIRSTHDR(&message);
  first->cmsg_level = SOL_SOCKET;
  first->cmsg_type = SCM_RIGHTS;
  first->cmsg_len = CMSG_LEN(sizeof fds);
  std::memcpy(CMSG_DATA(first), fds.data(), sizeof fds);
  const ssize_t sent = uninterrupted([&] { return ::sendmsg(socket, &message, flags); });
  return sent == static_cast<ssize_t>(packet.size());
}

enum class DescriptorPacket {
  good,
  closed,   // the other side has closed its end
  invalid,  // an error, another length, or another number of descriptors; those that came are
            // closed
};

// Receives one packet of exactly this length with exactly Count descriptors, closed on exec.
template <size_t Count>
DescriptorPacket receive_with_descriptors(int socket, std::span<std::byte> packet,
                                          std::array<UniqueFd, Count>& fds) {
  alignas(cmsghdr) char control[CMSG_SPACE(Count * sizeof(int))]{};
  iovec part{packet.data(), packet.size()};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = sizeof control;
  const ssize_t got = uninterrupted([&] { return ::recvmsg(socket, &message, MSG_CMSG_CLOEXEC); });
  if (got == 0) return DescriptorPacket::closed;
  if (got < 0) return DescriptorPacket::invalid;
  size_t taken = 0;
  // Linux gives the descriptors of one packet in one header, and closes those that have no space.
  const cmsghdr* const first = CMSG_FIRSTHDR(&message);
  if (first && first->cmsg_level == SOL_SOCKET && first->cmsg_type == SCM_RIGHTS) {
    for (; taken < Count && CMSG_LEN((taken + 1) * sizeof(int)) <= first->cmsg_len; ++taken) {
      int fd = -1;
      std::memcpy(&fd, CMSG_DATA(first) + taken * sizeof fd, sizeof fd);
      fds[taken] = UniqueFd(fd);
    }
  }
  const bool cut = (message.msg_flags & (MSG_TRUNC | MSG_CTRUNC)) != 0;
  if (got == static_cast<ssize_t>(packet.size()) && taken == Count && !cut)
    return DescriptorPacket::good;
  for (auto& fd : fds) fd.reset();
  return DescriptorPacket::invalid;
}

}  // namespace pi

#endif  // PI_DESCRIPTOR_PACKET_H
