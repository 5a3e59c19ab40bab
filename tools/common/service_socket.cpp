// SPDX-License-Identifier: MIT
// The socket of a service, and how each side checks the identity of the other.
#include "service_socket.h"

#include <sys/socket.h>

#include <cerrno>
#include <cstdlib>
#include <system_error>

#include <fmt/format.h>
#include <pi/uninterrupted.h>
#include <pi/user_socket.h>

namespace pi::service {

Result<std::string> socket_path(const Names& names) {
  if (const char* named = std::getenv(names.variable); named && *named) {
    if (*named != '/')
      return Error{
          -1, fmt::format("{} is not an absolute path. It must start with '/'.", names.variable)};
    return std::string(named);
  }
  const std::string directory = user_socket_directory();
  if (const auto good = private_directory(directory); !good) return good.error();
  return fmt::format("{}/{}", directory, names.socket);
}

Result<UniqueFd> connect_to(const std::string& path, const Names& names) {
  const auto address = socket_address(path);
  if (!address) return address.error();
  UniqueFd fd(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0));
  const auto* generic = reinterpret_cast<const sockaddr*>(&*address);
  if (fd && ::connect(fd.get(), generic, sizeof *address) == 0) {
    if (is_trusted_peer(fd.get())) return fd;
    return Error{-1,
                 fmt::format("Cannot use '{}': the process that listens there belongs to another "
                             "user.",
                             path)};
  }
  if (errno == ENOENT)
    return Error{not_running,
                 fmt::format("No {} runs; start one with '{}'.", names.server, names.start)};
  if (errno == ECONNREFUSED)
    return Error{not_running,
                 fmt::format("No {} runs: the last one was killed and lost its {}. Start one with "
                             "'{}'.",
                             names.server, names.holds, names.start)};
  return Error{-1, fmt::format("Cannot connect to the {} at '{}': {}.", names.server, path,
                               std::generic_category().message(errno))};
}

bool send_packet(int fd, std::string_view packet) {
  const ssize_t sent =
      uninterrupted([&] { return ::send(fd, packet.data(), packet.size(), MSG_NOSIGNAL); });
  return sent == static_cast<ssize_t>(packet.size());
}

bool receive_packet(int fd, size_t limit, std::string& packet) {
  packet.resize(limit);
  const ssize_t got =
      uninterrupted([&] { return ::recv(fd, packet.data(), packet.size(), MSG_TRUNC); });
  // With MSG_TRUNC recv() returns the packet's real length, which may exceed the buffer.
  if (got <= 0 || static_cast<size_t>(got) > limit) return false;
  packet.resize(static_cast<size_t>(got));
  return true;
}

}  // namespace pi::service
