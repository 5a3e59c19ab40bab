// SPDX-License-Identifier: MIT
// Unix sockets between processes of one user: their directory, and checks of the process at the
// other end. Used by tools (swtrace's recorder, mpevt's counter daemon) and by libperfutil (user
// hooks), independently of each other.
#ifndef PI_USER_SOCKET_H
#define PI_USER_SOCKET_H

#include <fcntl.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>
#include <system_error>
#include <vector>

#include <pi/result.h>
#include <pi/unique_fd.h>

namespace pi {

namespace user_socket_detail {

inline std::string reason(int error) {
  return std::generic_category().message(error);
}

// A directory of this user, to which no other user can write.
inline bool is_own_directory(const std::string& path) {
  struct stat facts {};
  return ::lstat(path.c_str(), &facts) == 0 && S_ISDIR(facts.st_mode) &&
         facts.st_uid == ::geteuid() && (facts.st_mode & (S_IWGRP | S_IWOTH)) == 0;
}

}  // namespace user_socket_detail

// The directory of this user's sockets: /run/pitrace for root, pitrace below $XDG_RUNTIME_DIR or
// /run/user/UID, else /tmp/pitrace-UID. It need not exist.
inline std::string user_socket_directory() {
  const auto uid = ::geteuid();
  std::vector<std::string> parents;  // best first
  if (uid == 0) parents.emplace_back("/run");
  const char* const runtime = ::secure_getenv("XDG_RUNTIME_DIR");
  if (uid != 0 && runtime && *runtime == '/') parents.emplace_back(runtime);
  if (uid != 0) parents.push_back("/run/user/" + std::to_string(uid));
  for (const auto& parent : parents)
    if (user_socket_detail::is_own_directory(parent) && ::access(parent.c_str(), W_OK) == 0)
      return parent + "/pitrace";
  return "/tmp/pitrace-" + std::to_string(uid);
}

// Checks that path is a directory of this user with mode 0700; creates it if it is missing.
inline Status private_directory(const std::string& path) {
  if (::mkdir(path.c_str(), 0700) != 0 && errno != EEXIST)
    return Error{-1, "Cannot create the directory '" + path +
                         "' for sockets: " + user_socket_detail::reason(errno) + "."};
  struct stat facts {};
  if (::lstat(path.c_str(), &facts) != 0)
    return Error{-1, "Cannot examine '" + path + "': " + user_socket_detail::reason(errno) + "."};
  if (S_ISDIR(facts.st_mode) && facts.st_uid == ::geteuid() && (facts.st_mode & 077) == 0)
    return {};
  return Error{-1,
               "'" + path +
                   "' is not a private directory of this user (mode 0700), so it is not used for "
                   "sockets. Remove it, or set another path (PITRACE_SOCKET for swtrace, "
                   "PITRACE_COUNTERS for mpevt, PITRACE_JVMS for JProf and rtdriver)."};
}

inline Result<sockaddr_un> socket_address(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.empty() || path.size() >= sizeof address.sun_path)
    return Error{-1, "'" + path + "' is not a valid socket path: it must have 1 to " +
                         std::to_string(sizeof address.sun_path - 1) + " characters."};
  std::memcpy(address.sun_path, path.data(), path.size());
  return address;
}

// True if the process at the other end is this user's or root's.
inline bool is_trusted_peer(int fd) {
  ucred peer{};
  socklen_t size = sizeof peer;
  return ::getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 &&
         (peer.uid == ::geteuid() || peer.uid == 0);
}

// Id of the process at the other end of a connection, in this pid namespace; 0 if it is in another
// one.
inline uint32_t peer_pid(int fd) {
  ucred peer{};
  socklen_t size = sizeof peer;
  const bool known = ::getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 && peer.pid > 0;
  return known ? static_cast<uint32_t>(peer.pid) : 0;
}

// The lock file of a socket, which a running server holds. holder: its process id when another
// process holds the lock, else 0.
struct SocketLock {
  UniqueFd fd;  // empty: another process holds the lock
  int holder = 0;
};

inline Result<SocketLock> take_socket_lock(const std::string& path) {
  const std::string name = path + ".lock";
  UniqueFd fd(::open(name.c_str(), O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600));
  if (!fd)
    return Error{-1, "Cannot open '" + name + "': " + user_socket_detail::reason(errno) + "."};
  if (::flock(fd.get(), LOCK_EX | LOCK_NB) != 0) {
    char text[16] = "";
    (void)!::pread(fd.get(), text, sizeof text - 1, 0);
    return SocketLock{UniqueFd(), std::atoi(text)};
  }
  const std::string own = std::to_string(::getpid());
  if (::ftruncate(fd.get(), 0) != 0 ||
      ::pwrite(fd.get(), own.data(), own.size(), 0) != static_cast<ssize_t>(own.size()))
    return Error{-1, "Cannot write '" + name + "': " + user_socket_detail::reason(errno) + "."};
  return SocketLock{std::move(fd), 0};
}

// Removes the socket of an ended server and listens for packets; the caller must hold the lock.
inline Result<UniqueFd> listen_at(const std::string& path) {
  const auto address = socket_address(path);
  if (!address) return address.error();
  struct stat facts {};
  if (::lstat(path.c_str(), &facts) == 0 && !S_ISSOCK(facts.st_mode))
    return Error{-1, "'" + path + "' exists and is not a socket; remove it."};
  ::unlink(path.c_str());
  UniqueFd fd(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0));
  const auto* generic = reinterpret_cast<const sockaddr*>(&*address);
  constexpr int max_waiting = 128;
  if (!fd || ::bind(fd.get(), generic, sizeof *address) != 0 || ::chmod(path.c_str(), 0600) != 0 ||
      ::listen(fd.get(), max_waiting) != 0)
    return Error{-1, "Cannot listen at '" + path + "': " + user_socket_detail::reason(errno) + "."};
  return fd;
}

}  // namespace pi

#endif  // PI_USER_SOCKET_H
