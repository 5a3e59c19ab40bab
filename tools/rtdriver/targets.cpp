// SPDX-License-Identifier: MIT
// The JVMs that a command line names, connected.
#include "targets.h"

#include <arpa/inet.h>
#include <netdb.h>
#include <sys/socket.h>

#include <chrono>
#include <cstring>
#include <map>
#include <memory>

#include <fmt/format.h>
#include <pi/jvm_commands.h>
#include <pi/jvm_sockets.h>
#include <pi/printable.h>

#include "cli.h"

namespace pi::rtdriver {
namespace {

using Jvms = std::vector<Jvm>;

constexpr const char* how_to_start =
    "Start one with 'java -agentpath:DIRECTORY/libjprof.so=calltree ...'";

std::string joined(const Jvms& jvms) {
  std::string names;
  for (const auto& jvm : jvms) names += (names.empty() ? "" : ", ") + jvm.name;
  return names;
}

Error failure_of(const JvmSocket& socket, const Error& error) {
  return {error.code, fmt::format("Cannot send commands to process {} at '{}': {}", socket.pid,
                                  printable(socket.path), error.message)};
}

Result<Jvm> open_socket(const JvmSocket& socket) {
  auto connection = Connection::to_socket(socket);
  if (!connection && connection.error().code == not_listening)
    jvm_commands::remove_if_abandoned(socket.path);  // its JVM was killed
  if (!connection) return failure_of(socket, connection.error());
  return Jvm{std::to_string(socket.pid), socket.pid, 0, std::move(*connection)};
}

Result<Jvms> connect_to_pids(const Wanted& wanted, const std::vector<JvmSocket>& sockets) {
  Jvms jvms;
  for (const uint32_t pid : wanted.pids) {
    const auto of_pid = sockets_of(sockets, pid);
    if (of_pid.empty())
      return Error{-1, fmt::format("Process {} accepts no commands: it is no Java virtual machine "
                                   "with CALLTREE, JLM or HD of JProf, or it belongs to another "
                                   "user.",
                                   pid)};
    // A socket may remain of an ended process of another user, or another user may have made it.
    const size_t before = jvms.size();
    Error last{-1, fmt::format("Process {} has ended, or accepts no more commands.", pid)};
    for (const auto& socket : of_pid) {
      auto jvm = open_socket(socket);
      if (jvm)
        jvms.push_back(std::move(*jvm));
      else if (jvm.error().code != not_listening)
        last = jvm.error();
    }
    if (jvms.size() == before) return last;
  }
  return jvms;
}

Result<Jvms> connect_to_machine(const Wanted& wanted, const std::vector<JvmSocket>& sockets) {
  // A user could let root wait at a thousand sockets: without an answer, or for each one.
  constexpr int max_failures = 3;
  constexpr std::chrono::seconds slow{1};
  std::map<uid_t, int> failures;
  Jvms jvms;
  for (const auto& socket : sockets) {
    if (failures[socket.owner] >= max_failures) continue;
    const auto began = std::chrono::steady_clock::now();
    auto jvm = open_socket(socket);
    if (jvm && std::chrono::steady_clock::now() - began > slow) ++failures[socket.owner];
    if (jvm) {
      jvms.push_back(std::move(*jvm));
    } else if (jvm.error().code != not_listening) {
      cli::warning(jvm.error().message);
      if (++failures[socket.owner] == max_failures)
        cli::warning(fmt::format("Further sockets of user {} are left out.", socket.owner));
    }
  }
  if (jvms.empty())
    return Error{-1, fmt::format("No Java virtual machine accepts commands. {}.", how_to_start)};
  if (jvms.size() > 1 && !wanted.all)
    return Error{-1, fmt::format("Several Java virtual machines accept commands: {}. Choose one "
                                 "with --pid PID, or all of them with -b.",
                                 joined(jvms))};
  return jvms;
}

Result<Jvm> open_port(const Wanted& wanted, const std::vector<Directory>& directories,
                      unsigned port) {
  const auto key =
      wanted.key_file.empty() ? find_key(directories, port) : read_key(wanted.key_file);
  if (!key) return key.error();
  auto connection = Connection::to_port(port, *key);
  if (!connection && connection.error().code == not_listening)
    return Error{not_listening,
                 fmt::format("No process accepts commands at port {}: the JVM with this key has "
                             "ended. 'rtdriver -l' finds those that run.",
                             port)};
  if (!connection)
    return Error{connection.error().code, fmt::format("Cannot send commands to port {}: {}", port,
                                                      connection.error().message)};
  return Jvm{fmt::format("port {}", port), 0, port, std::move(*connection)};
}

Result<Jvms> connect_to_ports(const Wanted& wanted, const std::vector<Directory>& directories) {
  Jvms jvms;
  if (wanted.port) {
    auto jvm = open_port(wanted, directories, *wanted.port);
    if (!jvm) return jvm.error();
    jvms.push_back(std::move(*jvm));
    return jvms;
  }
  std::string last;
  for (unsigned i = 0; i < jvm_commands::port_count && (jvms.empty() || wanted.all); ++i) {
    auto jvm = open_port(wanted, directories, jvm_commands::first_port + i);
    if (jvm)
      jvms.push_back(std::move(*jvm));
    else
      last = jvm.error().message;
  }
  if (!jvms.empty()) return jvms;
  return Error{
      -1, fmt::format("None of the ports {} to {} accepts commands. {}", jvm_commands::first_port,
                      jvm_commands::first_port + jvm_commands::port_count - 1, last)};
}

Status not_here(const std::string& name) {
  return Error{-1, fmt::format("'{}' is not this machine: JProf accepts commands only there. Run "
                               "rtdriver on that machine, for example with 'ssh {} rtdriver -l'.",
                               name, name)};
}

bool is_loopback(const in_addr& address) {
  constexpr unsigned network = 127, shift = 24;
  return ntohl(address.s_addr) >> shift == network;
}

}  // namespace

Result<std::vector<Jvm>> connect_to(const Wanted& wanted) {
  const auto directories = socket_directories();
  if (!directories) return directories.error();
  if (wanted.by_port) return connect_to_ports(wanted, *directories);
  const auto sockets = find_sockets(*directories);
  return wanted.pids.empty() ? connect_to_machine(wanted, sockets)
                             : connect_to_pids(wanted, sockets);
}

Status check_loopback_address(const std::string& address) {
  in_addr parsed{};
  if (::inet_pton(AF_INET, address.c_str(), &parsed) != 1)
    return Error{-1, fmt::format("'{}' is not an IPv4 address, as in 127.0.0.1.", address)};
  return is_loopback(parsed) ? Status{} : not_here(address);
}

Status check_loopback_name(const std::string& name) {
  addrinfo hints{};
  hints.ai_family = AF_INET;
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* list = nullptr;
  if (const int error = ::getaddrinfo(name.c_str(), nullptr, &hints, &list); error != 0)
    return Error{-1, fmt::format("Cannot find the machine '{}': {}.", name, ::gai_strerror(error))};
  const std::unique_ptr<addrinfo, void (*)(addrinfo*)> addresses(list, ::freeaddrinfo);
  sockaddr_in address{};
  std::memcpy(&address, addresses->ai_addr, sizeof address);
  return is_loopback(address.sin_addr) ? Status{} : not_here(name);
}

}  // namespace pi::rtdriver
