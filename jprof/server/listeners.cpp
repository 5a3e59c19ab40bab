// SPDX-License-Identifier: MIT
// Where the command server listens.
#include "server/listeners.h"

#include <netinet/in.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <span>

#include <pi/above_standard.h>
#include <pi/files.h>
#include <pi/hex.h>
#include <pi/jvm_commands.h>
#include <pi/jvm_sockets.h>
#include <pi/new_file.h>
#include <pi/user_socket.h>

namespace pi::jprof {
namespace {

constexpr int waiting_clients = 64;
constexpr int socket_flags = SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK;

Error failure(const std::string& what) {
  return {errno, what + ": " + std::generic_category().message(errno)};
}

// A socket that remained of a killed process with the same id.
Status remove_stale(const std::string& path) {
  struct stat facts {};
  if (::lstat(path.c_str(), &facts) != 0)
    return errno == ENOENT ? Status{} : failure("cannot examine '" + path + "'");
  if (!S_ISSOCK(facts.st_mode)) return Error{EEXIST, "'" + path + "' is not a socket; remove it"};
  if (!jvm_commands::is_abandoned(path))
    return Error{EADDRINUSE, "another process with this id listens at '" + path + "'"};
  return ::unlink(path.c_str()) == 0 ? Status{} : failure("cannot remove '" + path + "'");
}

// A socket that listens at path. It has another name until then: one with this name that does not
// listen is removed.
Result<UniqueFd> listen_at(const std::string& path, const std::string& before) {
  const auto address = socket_address(before);
  if (!address) return address.error();
  (void)::unlink(before.c_str());
  UniqueFd fd = above_standard(UniqueFd(::socket(AF_UNIX, socket_flags, 0)));
  if (!fd || ::bind(fd.get(), reinterpret_cast<const sockaddr*>(&*address), sizeof *address) != 0)
    return failure("cannot listen at '" + path + "'");
  if (::chmod(before.c_str(), 0600) != 0 || ::listen(fd.get(), waiting_clients) != 0 ||
      ::rename(before.c_str(), path.c_str()) != 0) {
    const Error error = failure("cannot listen at '" + path + "'");
    (void)::unlink(before.c_str());
    return error;
  }
  return fd;
}

Result<std::string> new_key() {
  std::array<unsigned char, 32> bytes;
  if (::getrandom(bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size()))
    return failure("cannot make a key");
  return to_hex(std::as_bytes(std::span(bytes)));
}

}  // namespace

Status Listeners::open_socket(uint32_t pid) {
  const auto directory = jvm_commands::directory();
  if (!directory) return directory.error();
  directory_ = *directory;
  if (const auto good = private_directory(directory_); !good) return good;
  const std::string name = jvm_commands::socket_name(pid);
  const std::string path = directory_ + "/" + name;
  if (const auto removed = remove_stale(path); !removed) return removed;
  auto fd = listen_at(path, directory_ + "/." + name);
  if (!fd) return fd.error();
  path_ = path;
  has_files_ = true;
  socket_ = std::move(*fd);
  jvm_commands::remove_abandoned(directory_);
  return {};
}

Status Listeners::open_port(unsigned first) {
  constexpr unsigned last_port = 65535;
  int error = EADDRINUSE;
  for (unsigned port = first; port < first + jvm_commands::port_count && port <= last_port;
       ++port) {
    UniqueFd fd = above_standard(UniqueFd(::socket(AF_INET, socket_flags, 0)));
    // Connections of an earlier server that are still being closed do not occupy the port.
    const int on = 1;
    if (fd) (void)::setsockopt(fd.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(static_cast<uint16_t>(port));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (!fd || ::bind(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 ||
        ::listen(fd.get(), waiting_clients) != 0) {
      error = errno;
      continue;
    }
    if (is_key_of_other(directory_ + "/" + jvm_commands::key_name(port))) {
      error = EADDRINUSE;
      continue;
    }
    port_ = port;
    if (const auto written = write_key(); !written) {
      port_ = 0;
      return written;
    }
    port_socket_ = std::move(fd);
    return {};
  }
  errno = error;
  return failure("no port from PORT=" + std::to_string(first) + " on can be used");
}

// The second line names the socket of the server that wrote the key.
bool Listeners::is_key_of_other(const std::string& path) const {
  constexpr size_t max_key = 4096;
  const auto file = open_regular(path, Links::refused);
  const auto text = file ? read_whole(file->fd.get(), max_key) : Result<std::string>(std::string());
  if (!text) return false;
  const size_t begin = text->find('\n') + 1;
  const std::string name = begin == 0 ? "" : text->substr(begin, text->find('\n', begin) - begin);
  if (!jvm_commands::socket_pid(name)) return false;
  const std::string socket = directory_ + "/" + name;
  struct stat facts {};
  return socket != path_ && ::lstat(socket.c_str(), &facts) == 0 && S_ISSOCK(facts.st_mode) &&
         !jvm_commands::is_abandoned(socket);
}

Status Listeners::write_key() {
  auto key = new_key();
  if (!key) return key.error();
  const std::string path = directory_ + "/" + jvm_commands::key_name(port_);
  auto file = NewFile::create(path, ".jprof-", 0600);
  if (!file) return Error{-1, "cannot write the key '" + path + "': " + file.error().message};
  const std::string socket = path_.substr(directory_.size() + 1);
  int error = write_all(file->fd(), text_bytes(*key + "\n" + socket + "\n"));
  if (error == 0) error = file->publish(false);
  if (error != 0)
    return Error{error,
                 "cannot write the key '" + path + "': " + std::generic_category().message(error)};
  key_ = std::move(*key);
  key_path_ = path;
  return {};
}

void Listeners::remove_files() {
  if (!has_files_.exchange(false)) return;
  ::unlink(path_.c_str());
  if (!key_path_.empty()) ::unlink(key_path_.c_str());
}

}  // namespace pi::jprof
