// SPDX-License-Identifier: MIT
// Sends requests to a HotSpot JVM through its attach socket. Runs with the rights of the JVM's user
// only.
#include "hotspot.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <span>
#include <utility>

#include <fmt/format.h>
#include <pi/files.h>
#include <pi/uninterrupted.h>

#include "owned_file.h"

namespace pi::attach {
namespace {

// The file .attach_pidN: a JVM that finds it when it gets SIGQUIT opens its socket. Removed with
// this object.
class AttachFile {
 public:
  static Result<AttachFile> make(int directory, const std::string& name, uid_t owner) {
    const int fd = ::openat(directory, name.c_str(),
                            O_CREAT | O_EXCL | O_WRONLY | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (fd >= 0) {
      ::close(fd);
      return AttachFile(directory, name);
    }
    if (errno != EEXIST) return failure(name, std::strerror(errno));
    // A file that an earlier attempt left has the same effect.
    struct stat facts {};
    if (::fstatat(directory, name.c_str(), &facts, AT_SYMLINK_NOFOLLOW) != 0)
      return failure(name, std::strerror(errno));
    if (S_ISREG(facts.st_mode) && facts.st_uid == owner) return AttachFile(directory, name);
    return failure(name, fmt::format("it already exists and is {} of user {}",
                                     kind_of(facts.st_mode), facts.st_uid));
  }
  AttachFile(AttachFile&& other) noexcept
      : directory_(std::exchange(other.directory_, -1)), name_(std::move(other.name_)) {}
  AttachFile& operator=(AttachFile&& other) noexcept {
    std::swap(directory_, other.directory_);
    std::swap(name_, other.name_);
    return *this;
  }
  ~AttachFile() {
    if (directory_ >= 0) ::unlinkat(directory_, name_.c_str(), 0);
  }

 private:
  AttachFile(int directory, std::string name) : directory_(directory), name_(std::move(name)) {}
  static Error failure(const std::string& name, const std::string& why) {
    return {1, fmt::format("cannot create /tmp/{}: {}", name, why)};
  }
  int directory_;
  std::string name_;
};

}  // namespace

Error Hotspot::no_answer() const {
  return {1,
          fmt::format("process {} does not answer in time: it may be stopped or very busy, or it "
                      "runs with -XX:+DisableAttachMechanism",
                      target_.pid())};
}

Status Hotspot::wait_for(int socket, short events, const Deadline& deadline) const {
  pollfd waiting[] = {{target_.pidfd(), POLLIN, 0}, {socket, events, 0}};
  const int ready = poll_until(std::span(waiting).first(socket >= 0 ? 2 : 1), deadline);
  if (ready < 0)
    return Error{1, fmt::format("cannot poll process {}: {}", target_.pid(), std::strerror(errno))};
  if (ready == 0) return no_answer();
  if (waiting[1].revents != 0 && socket >= 0) return {};
  return Error{1, fmt::format("process {} has ended", target_.pid())};
}

// Checks with the kernel that the target listens, not another process that replaced the socket.
Status Hotspot::check_peer(int socket) const {
  ucred peer{};
  socklen_t size = sizeof peer;
  if (::getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0)
    return Error{1, fmt::format("cannot find out which process serves the attach socket: {}",
                                std::strerror(errno))};
  if (peer.pid == target_.pid() && peer.uid == target_.status().uid) return {};
  return Error{EPERM, fmt::format("the attach socket is served by process {} of user {}, not by "
                                  "process {} of user {}",
                                  peer.pid, peer.uid, target_.pid(), target_.status().uid)};
}

Result<UniqueFd> Hotspot::connect_now(const Deadline& deadline) const {
  const std::string name = fmt::format(".java_pid{}", target_.status().inner_pid);
  const UniqueFd file(::openat(tmp_, name.c_str(), O_PATH | O_NOFOLLOW | O_CLOEXEC));
  if (!file && errno == ENOENT) return UniqueFd();
  struct stat facts {};
  if (!file || ::fstat(file.get(), &facts) != 0)
    return Error{1, fmt::format("cannot open /tmp/{}: {}", name, std::strerror(errno))};
  if (!S_ISSOCK(facts.st_mode))
    return Error{EPERM, fmt::format("/tmp/{} is {}, not a socket", name, kind_of(facts.st_mode))};
  if (facts.st_uid != target_.status().uid)
    return Error{EPERM, fmt::format("/tmp/{} belongs to user {}, not to the process's user {}",
                                    name, facts.st_uid, target_.status().uid)};
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  const std::string path = path_of(file.get());
  path.copy(address.sun_path, sizeof address.sun_path - 1);
  UniqueFd socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (!socket) return Error{1, fmt::format("cannot create a socket: {}", std::strerror(errno))};
  while (uninterrupted([&] {
           return ::connect(socket.get(), reinterpret_cast<sockaddr*>(&address), sizeof address);
         }) != 0) {
    if (errno == ECONNREFUSED) return UniqueFd();
    if (errno != EAGAIN)
      return Error{1, fmt::format("cannot connect to /tmp/{}: {}", name, std::strerror(errno))};
    // The socket's backlog is full.
    if (deadline.is_over()) return no_answer();
    (void)wait_for(-1, 0, Deadline(std::chrono::milliseconds(20)));
  }
  if (const auto checked = check_peer(socket.get()); !checked) return checked.error();
  return socket;
}

// SIGQUIT kills a process that has no handler for it, so the handler is checked again.
Status Hotspot::wake_attach_listener() const {
  const auto status = target_.read_status();
  if (!target_.is_alive()) return Error{1, fmt::format("process {} has ended", target_.pid())};
  if (!status) return Error{1, fmt::format("cannot read /proc/{}/status", target_.pid())};
  if (status->stopped)
    return Error{
        1, fmt::format("process {} is stopped. Continue it first (kill -CONT)", target_.pid())};
  if (!status->catches_quit)
    return Error{1,
                 fmt::format("process {} does not catch SIGQUIT: it is not a Java virtual machine, "
                             "was started just now, or runs with -Xrs",
                             target_.pid())};
  if (::syscall(SYS_pidfd_send_signal, target_.pidfd(), SIGQUIT, nullptr, 0) == 0) return {};
  return Error{
      1, fmt::format("cannot send SIGQUIT to process {}: {}", target_.pid(), std::strerror(errno))};
}

Result<UniqueFd> Hotspot::connect(const Deadline& deadline) const {
  auto socket = connect_now(deadline);
  if (!socket || *socket) return socket;
  const std::string name = fmt::format(".attach_pid{}", target_.status().inner_pid);
  auto file = AttachFile::make(tmp_, name, target_.status().uid);
  // If another user owns that name, use the working directory: the JVM looks there, too.
  if (!file && cwd_ >= 0) {
    auto other = AttachFile::make(cwd_, name, target_.status().uid);
    if (other) file = std::move(other);
  }
  if (!file) return file.error();
  if (const auto woken = wake_attach_listener(); !woken) return woken.error();
  // The JVM opens the socket later, and nothing announces it: poll.
  for (int pause = 5; !deadline.is_over(); pause = std::min(pause * 2, 100)) {
    if (!target_.is_alive()) return Error{1, fmt::format("process {} has ended", target_.pid())};
    socket = connect_now(deadline);
    if (!socket || *socket) return socket;
    (void)wait_for(-1, 0, Deadline(std::chrono::milliseconds(pause)));
  }
  return no_answer();
}

Status Hotspot::send(int socket, const std::string& request, const Deadline& deadline) const {
  for (size_t done = 0; done < request.size();) {
    const ssize_t sent = uninterrupted(
        [&] { return ::send(socket, request.data() + done, request.size() - done, MSG_NOSIGNAL); });
    if (sent >= 0) {
      done += static_cast<size_t>(sent);
    } else if (errno == EAGAIN) {
      if (auto ready = wait_for(socket, POLLOUT, deadline); !ready) return ready;
    } else {
      return Error{
          1, fmt::format("cannot send to process {}: {}", target_.pid(), std::strerror(errno))};
    }
  }
  return {};
}

Result<std::string> Hotspot::receive(int socket, const Deadline& deadline) const {
  std::string reply;
  char part[4096];
  while (!deadline.is_over()) {
    const ssize_t got = uninterrupted([&] { return ::recv(socket, part, sizeof part, 0); });
    if (got == 0) return reply;
    if (got > 0) {
      reply.append(part, static_cast<size_t>(got));
      if (reply.size() > max_reply_bytes)
        return Error{1, fmt::format("process {} sent an answer of more than {} bytes",
                                    target_.pid(), max_reply_bytes)};
    } else if (errno == EAGAIN) {
      if (auto ready = wait_for(socket, POLLIN, deadline); !ready) return ready.error();
    } else {
      return Error{
          1, fmt::format("no answer from process {}: {}", target_.pid(), std::strerror(errno))};
    }
  }
  return no_answer();
}

Result<std::string> Hotspot::ask(const std::string& request, const Deadline& deadline) const {
  const auto socket = connect(deadline);
  if (!socket) return socket.error();
  if (const auto sent = send(socket->get(), request, deadline); !sent) return sent.error();
  return receive(socket->get(), deadline);
}

}  // namespace pi::attach
