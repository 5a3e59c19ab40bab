// SPDX-License-Identifier: MIT
// Where a user's recorder listens, and how both sides make sure who is at the other end.
#include "recorder_socket.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <system_error>
#include <vector>

#include <fmt/format.h>

namespace pi::swtrace {
namespace {

constexpr char socket_name[] = "recorder";

std::string reason(int error) {
  return std::generic_category().message(error);
}

// A directory of this user's, so that nobody else can put anything into it.
bool is_own_directory(const std::string& path) {
  struct stat facts {};
  return ::lstat(path.c_str(), &facts) == 0 && S_ISDIR(facts.st_mode) &&
         facts.st_uid == ::geteuid() && (facts.st_mode & (S_IWGRP | S_IWOTH)) == 0;
}

// Directories that may hold ours, best first.
std::string choose_directory() {
  const auto uid = ::geteuid();
  std::vector<std::string> parents;
  if (uid == 0) parents.emplace_back("/run");
  if (const char* runtime = std::getenv("XDG_RUNTIME_DIR"); uid != 0 && runtime && *runtime == '/')
    parents.emplace_back(runtime);
  if (uid != 0) parents.push_back(fmt::format("/run/user/{}", uid));
  for (const auto& parent : parents)
    if (is_own_directory(parent) && ::access(parent.c_str(), W_OK) == 0) return parent + "/pitrace";
  return fmt::format("/tmp/pitrace-{}", uid);
}

Result<sockaddr_un> address_of(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.empty() || path.size() >= sizeof address.sun_path)
    return Error{-1, fmt::format("'{}' is no name for a socket: it must have 1 to {} characters.",
                                 path, sizeof address.sun_path - 1)};
  std::memcpy(address.sun_path, path.data(), path.size());
  return address;
}

}  // namespace

Status private_directory(const std::string& path) {
  if (::mkdir(path.c_str(), 0700) != 0 && errno != EEXIST)
    return Error{-1, fmt::format("The directory '{}' for the recorder's socket cannot be made: {}.",
                                 path, reason(errno))};
  struct stat facts {};
  if (::lstat(path.c_str(), &facts) != 0)
    return Error{-1, fmt::format("'{}' cannot be examined: {}.", path, reason(errno))};
  if (S_ISDIR(facts.st_mode) && facts.st_uid == ::geteuid() && (facts.st_mode & 077) == 0)
    return {};
  return Error{-1, fmt::format("'{}' is not a directory of this user's alone (mode 0700); the "
                               "recorder will not put its socket there. Remove it, or name a "
                               "socket in the environment variable PITRACE_SOCKET.",
                               path)};
}

Result<std::string> socket_path() {
  if (const char* named = std::getenv("PITRACE_SOCKET"); named && *named) {
    if (*named != '/')
      return Error{-1, "PITRACE_SOCKET must be an absolute path: it starts with '/'."};
    return std::string(named);
  }
  const std::string directory = choose_directory();
  if (const auto good = private_directory(directory); !good) return good.error();
  return directory + "/" + socket_name;
}

Result<RecorderLock> take_lock(const std::string& path) {
  const std::string name = path + ".lock";
  UniqueFd fd(::open(name.c_str(), O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600));
  if (!fd) return Error{-1, fmt::format("'{}' cannot be opened: {}.", name, reason(errno))};
  if (::flock(fd.get(), LOCK_EX | LOCK_NB) != 0) {
    std::array<char, 16> text{};
    (void)!::pread(fd.get(), text.data(), text.size() - 1, 0);
    return RecorderLock{UniqueFd(), std::atoi(text.data())};
  }
  const std::string own = std::to_string(::getpid());
  if (::ftruncate(fd.get(), 0) != 0 ||
      ::pwrite(fd.get(), own.data(), own.size(), 0) != static_cast<ssize_t>(own.size()))
    return Error{-1, fmt::format("'{}' cannot be written: {}.", name, reason(errno))};
  return RecorderLock{std::move(fd), 0};
}

Result<UniqueFd> listen_at(const std::string& path) {
  const auto address = address_of(path);
  if (!address) return address.error();
  struct stat facts {};
  if (::lstat(path.c_str(), &facts) == 0 && !S_ISSOCK(facts.st_mode))
    return Error{-1, fmt::format("'{}' is in the way of the recorder's socket; remove it.", path)};
  ::unlink(path.c_str());
  UniqueFd fd(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0));
  const auto* generic = reinterpret_cast<const sockaddr*>(&*address);
  constexpr int waiting_most = 16;
  if (!fd || ::bind(fd.get(), generic, sizeof *address) != 0 || ::chmod(path.c_str(), 0600) != 0 ||
      ::listen(fd.get(), waiting_most) != 0)
    return Error{-1, fmt::format("The recorder cannot listen at '{}': {}.", path, reason(errno))};
  return fd;
}

Result<UniqueFd> connect_to(const std::string& path) {
  const auto address = address_of(path);
  if (!address) return address.error();
  UniqueFd fd(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0));
  const auto* generic = reinterpret_cast<const sockaddr*>(&*address);
  if (fd && ::connect(fd.get(), generic, sizeof *address) == 0) {
    if (is_trusted_peer(fd.get())) return fd;
    return Error{-1, fmt::format("The process listening at '{}' belongs to another user.", path)};
  }
  if (errno == ENOENT) return Error{-1, "No recorder runs; start one with 'swtrace init'."};
  if (errno == ECONNREFUSED)
    return Error{-1,
                 "No recorder runs: the last one has died, and its trace with it. Start one "
                 "with 'swtrace init'."};
  return Error{-1, fmt::format("The recorder at '{}' cannot be reached: {}.", path, reason(errno))};
}

bool is_trusted_peer(int fd) {
  ucred peer{};
  socklen_t size = sizeof peer;
  return ::getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 &&
         (peer.uid == ::geteuid() || peer.uid == 0);
}

bool send_packet(int fd, std::string_view packet) {
  ssize_t sent;
  do {
    sent = ::send(fd, packet.data(), packet.size(), MSG_NOSIGNAL);
  } while (sent < 0 && errno == EINTR);
  return sent == static_cast<ssize_t>(packet.size());
}

bool receive_packet(int fd, size_t limit, std::string& packet) {
  packet.resize(limit);
  ssize_t got;
  do {
    got = ::recv(fd, packet.data(), packet.size(), MSG_TRUNC);
  } while (got < 0 && errno == EINTR);
  // MSG_TRUNC tells the packet's real length, which may exceed the room.
  if (got <= 0 || static_cast<size_t>(got) > limit) return false;
  packet.resize(static_cast<size_t>(got));
  return true;
}

}  // namespace pi::swtrace
