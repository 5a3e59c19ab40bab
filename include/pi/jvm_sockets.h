// SPDX-License-Identifier: MIT
// The sockets of JProf's command servers that remain of killed processes. A server gives its socket
// its name when it already listens, so one that refuses connections has no process any more.
#ifndef PI_JVM_SOCKETS_H
#define PI_JVM_SOCKETS_H

#include <dirent.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include <pi/jvm_commands.h>
#include <pi/unique_fd.h>
#include <pi/user_socket.h>

namespace pi::jvm_commands {

// The process id in the name of a socket.
inline std::optional<uint32_t> socket_pid(std::string_view name) {
  const size_t around = socket_prefix.size() + socket_suffix.size();
  if (name.size() <= around || !name.starts_with(socket_prefix)) return {};
  const std::string_view digits = name.substr(socket_prefix.size(), name.size() - around);
  uint32_t pid = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), pid);
  if (error != std::errc() || end != digits.data() + digits.size() || name != socket_name(pid))
    return {};
  return pid;
}

// True if path is a socket of this user at which no process listens. Does not wait.
inline bool is_abandoned(const std::string& path) {
  struct stat facts {};
  if (::lstat(path.c_str(), &facts) != 0 || !S_ISSOCK(facts.st_mode) || facts.st_uid != ::geteuid())
    return false;
  const auto address = socket_address(path);
  const UniqueFd fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  return address && fd &&
         ::connect(fd.get(), reinterpret_cast<const sockaddr*>(&*address), sizeof *address) != 0 &&
         errno == ECONNREFUSED;
}

inline void remove_if_abandoned(const std::string& path) {
  if (is_abandoned(path)) (void)::unlink(path.c_str());
}

// Removes the abandoned sockets of processes that do not exist. Those that do exist are not
// bothered with connections.
inline void remove_abandoned(const std::string& directory) {
  constexpr int max_entries = 65536;
  const std::unique_ptr<DIR, int (*)(DIR*)> open(::opendir(directory.c_str()), ::closedir);
  if (!open) return;
  for (int i = 0; i < max_entries; ++i) {
    const dirent* const entry = ::readdir(open.get());
    if (!entry) return;
    const auto pid = socket_pid(entry->d_name);
    if (pid && ::kill(static_cast<pid_t>(*pid), 0) != 0 && errno == ESRCH)
      remove_if_abandoned(directory + "/" + entry->d_name);
  }
}

}  // namespace pi::jvm_commands

#endif  // PI_JVM_SOCKETS_H
