// SPDX-License-Identifier: MIT
// A connection to the command server of one JVM.
#include "connection.h"

#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/time.h>

#include <cerrno>
#include <system_error>

#include <fmt/format.h>
#include <pi/jvm_commands.h>
#include <pi/uninterrupted.h>
#include <pi/user_socket.h>

namespace pi::rtdriver {
namespace {

constexpr std::chrono::milliseconds greeting_patience{10'000};
constexpr size_t max_answer = size_t{16} << 20;

Error failure(int error) {
  return {error == ECONNREFUSED || error == ENOENT ? not_listening : -1,
          fmt::format("{}.", std::generic_category().message(error))};
}

Error ended() {
  return {-1, "The JVM has closed the connection."};
}

// Only the owner of the directory, or root, can be a JVM there.
bool is_peer(int fd, uid_t owner) {
  ucred peer{};
  socklen_t size = sizeof peer;
  return ::getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 && peer.uid == owner;
}

Status connect_to(int fd, const sockaddr* address, socklen_t size) {
  // Also for connect(), which waits while the queue of a Unix socket is full.
  const timeval limit{10, 0};
  (void)::setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);
  if (::connect(fd, address, size) == 0) return {};
  if (errno == EAGAIN) return Error{-1, "The JVM does not accept the connection."};
  return failure(errno);
}

Status send_all(int fd, std::string_view text) {
  while (!text.empty()) {
    const ssize_t sent =
        uninterrupted([&] { return ::send(fd, text.data(), text.size(), MSG_NOSIGNAL); });
    if (sent < 0) {
      if (errno == EPIPE || errno == ECONNRESET) return ended();
      if (errno == EAGAIN) return Error{-1, "The JVM does not read the command."};
      return failure(errno);
    }
    text.remove_prefix(static_cast<size_t>(sent));
  }
  return {};
}

Result<std::string> receive_all(int fd, size_t count, const Deadline& deadline) {
  std::string text(count, '\0');
  for (size_t got = 0; got < count;) {
    pollfd waiting{fd, POLLIN, 0};
    const int ready = uninterrupted(
        [&] { return ::poll(&waiting, 1, deadline.is_over() ? 0 : deadline.poll_ms()); });
    if (ready < 0) return failure(errno);
    if (ready == 0 && deadline.is_over()) return Error{-1, "The JVM does not answer in time."};
    if (ready == 0) continue;
    const ssize_t more =
        uninterrupted([&] { return ::recv(fd, text.data() + got, count - got, MSG_DONTWAIT); });
    if (more < 0 && errno == EAGAIN) continue;
    if (more < 0 && errno != ECONNRESET) return failure(errno);
    if (more <= 0) return ended();
    got += static_cast<size_t>(more);
  }
  return text;
}

}  // namespace

Result<Connection> Connection::to_socket(const JvmSocket& jvm) {
  const auto address = socket_address(jvm.path);
  if (!address) return address.error();
  UniqueFd fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (!fd) return failure(errno);
  const auto connected =
      connect_to(fd.get(), reinterpret_cast<const sockaddr*>(&*address), sizeof *address);
  if (!connected) return connected.error();
  if (!is_peer(fd.get(), jvm.owner))
    return Error{-1, "The process that listens there belongs to another user."};
  return on(std::move(fd), {});
}

Result<Connection> Connection::to_port(unsigned port, const std::string& key) {
  UniqueFd fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (!fd) return failure(errno);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  const auto connected =
      connect_to(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address);
  if (!connected) return connected.error();
  return on(std::move(fd), key);
}

Result<Connection> Connection::on(UniqueFd fd, const std::string& key) {
  Connection connection(std::move(fd));
  if (!key.empty()) {
    const std::string line = fmt::format("{}{}\n", jvm_commands::key_word, key);
    if (const auto sent = send_all(connection.fd_.get(), line); !sent) return sent.error();
    if (const auto good = connection.expect_acceptance("The JVM refuses the key."); !good)
      return good.error();
  }
  if (const auto sent = send_all(connection.fd_.get(), jvm_commands::greeting); !sent)
    return sent.error();
  if (const auto good = connection.expect_acceptance(
          "The JVM refuses this client: it has 16 clients already, or belongs to another user.");
      !good)
    return good.error();
  return connection;
}

Status Connection::expect_acceptance(const char* refusal) const {
  const auto answer = receive_all(fd_.get(), 1, Deadline(greeting_patience));
  if (!answer) return answer.error();
  if (answer->front() == jvm_commands::done) return {};
  if (answer->front() != jvm_commands::not_done)
    return Error{-1, "The process that listens there is not JProf."};
  return Error{-1, refusal};
}

Status Connection::send(const std::string& message) const {
  if (message.size() > jvm_commands::max_frame)
    return Error{-1, fmt::format("A command has at most {} bytes.", jvm_commands::max_frame)};
  return send_all(fd_.get(), jvm_commands::frame(message));
}

Result<Answer> Connection::receive(const Deadline& deadline) const {
  const Error wrong{-1, "The answer of the JVM has another form than that of JProf."};
  std::string all;
  for (;;) {
    const auto head = receive_all(fd_.get(), jvm_commands::length_bytes, deadline);
    if (!head) return head.error();
    const size_t length = jvm_commands::read_length(*head);
    if (length == 0) break;
    if (length > jvm_commands::max_frame || all.size() + length > max_answer) return wrong;
    const auto text = receive_all(fd_.get(), length, deadline);
    if (!text) return text.error();
    all += *text;
  }
  if (all.empty() || (all.front() != jvm_commands::done && all.front() != jvm_commands::not_done))
    return wrong;
  return Answer{all.front() == jvm_commands::done, all.substr(1)};
}

}  // namespace pi::rtdriver
