// SPDX-License-Identifier: MIT
// The command server: accepts clients and executes their commands, in one thread.
#include "server/server.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <vector>

#include <pi/above_standard.h>
#include <pi/printable.h>
#include <pi/uninterrupted.h>
#include <pi/user_socket.h>

#include "messages.h"

namespace pi::jprof {
namespace {

using namespace std::chrono_literals;

constexpr int max_clients = 16;  // of the socket, and as many of the port

}  // namespace

Status Server::open(const Settings& settings) {
  settings_ = settings;
  wake_ = above_standard(UniqueFd(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)));
  if (!wake_) return Error{errno, "no eventfd: " + std::generic_category().message(errno)};
  if (const auto opened = listeners_.open_socket(settings.pid); !opened) return opened;
  if (settings.port == 0) return {};
  if (const auto opened = listeners_.open_port(settings.port); !opened)
    say(opened.error().message + ": commands are accepted only at '" + listeners_.path() + "'");
  return {};
}

std::string Server::description() const {
  std::string text = "'" + listeners_.path() + "'";
  if (listeners_.port() != 0) text += " and port " + std::to_string(listeners_.port());
  return text;
}

void Server::stop() {
  listeners_.remove_files();
  constexpr uint64_t one = 1;
  (void)!::write(wake_.get(), &one, sizeof one);
}

void Server::close() {
  listeners_.remove_files();
  connections_.clear();
  listeners_.close();
}

// ---- clients ----

// The client of a port that has sent no key for the longest time is dropped for a new one: any user
// can connect.
void Server::make_room(bool local) {
  const auto is_of_kind = [local](const Connection& c) { return c.is_local() == local; };
  if (std::count_if(connections_.begin(), connections_.end(), is_of_kind) < max_clients) return;
  const auto oldest = std::find_if(connections_.begin(), connections_.end(),
                                   [](const Connection& c) { return c.needs_key(); });
  if (!local && oldest != connections_.end()) connections_.erase(oldest);
}

void Server::accept_from(int listener, bool local) {
  UniqueFd fd = above_standard(UniqueFd(uninterrupted(
      [&] { return ::accept4(listener, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK); })));
  if (!fd) {
    // Without free descriptors or memory poll() would return at once, again and again.
    if (errno != EAGAIN && errno != ECONNABORTED) accept_again_ = Clock::now() + 1s;
    return;
  }
  make_room(local);
  const auto clients = std::count_if(connections_.begin(), connections_.end(),
                                     [local](const auto& c) { return c.is_local() == local; });
  Connection client(std::move(fd), local ? "" : listeners_.key(), settings_.patience);
  if (local && !is_trusted_peer(client.fd())) {
    client.refuse("only the user of this process and root may send commands");
    return client.send();
  }
  if (clients >= max_clients) {
    client.refuse("this process has 16 clients already");
    return client.send();
  }
  connections_.push_back(std::move(client));
}

int Server::timeout(Clock::time_point now) const {
  std::optional<Clock::time_point> first = start_at_;
  const auto add = [&first](const std::optional<Clock::time_point>& time) {
    if (time && (!first || *time < *first)) first = time;
  };
  add(accept_again_);
  for (const auto& connection : connections_) add(connection.deadline());
  if (!first) return -1;
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(*first - now).count();
  return static_cast<int>(std::clamp<long long>(left, 0, 60'000));
}

void Server::wait() {
  const auto now = Clock::now();
  if (accept_again_ && now >= *accept_again_) accept_again_.reset();
  std::vector<pollfd> waiting{{wake_.get(), POLLIN, 0}};
  if (!accept_again_) {
    waiting.push_back({listeners_.socket(), POLLIN, 0});
    waiting.push_back({listeners_.port_socket(), POLLIN, 0});  // -1 is ignored
  }
  const size_t first = waiting.size();
  for (const auto& connection : connections_)
    waiting.push_back({connection.fd(), connection.events(), 0});
  if (::poll(waiting.data(), waiting.size(), timeout(now)) < 0) return;
  if (waiting[0].revents != 0) ends_ = true;
  size_t i = first;
  for (auto& connection : connections_) {
    const short events = waiting[i++].revents;
    if ((events & POLLOUT) != 0) connection.send();
    if ((events & (POLLIN | POLLHUP | POLLERR | POLLNVAL)) != 0) connection.receive();
  }
  if (first == 1) return;
  if (waiting[1].revents != 0) accept_from(listeners_.socket(), true);
  if (waiting[2].revents != 0) accept_from(listeners_.port_socket(), false);
}

// ---- commands ----

void Server::run(const Execute& execute) {
  while (!ends_) {
    wait();
    if (ends_) break;
    // What clients sent while a command was executed is not read yet, so that time is not theirs.
    const auto now = Clock::now();
    start_if_due(execute);
    for (auto& connection : connections_) serve(connection, execute);
    connections_.remove_if([now](Connection& c) { return c.is_over(now); });
  }
  listeners_.remove_files();
  say_farewell();
  close();
}

// Sends the rest of the last answers, without waiting long.
void Server::say_farewell() {
  const auto end = Clock::now() + 1s;
  for (auto& connection : connections_)
    while (connection.events() == POLLOUT && Clock::now() < end) {
      pollfd waiting{connection.fd(), POLLOUT, 0};
      if (::poll(&waiting, 1, 100) > 0) connection.send();
      if ((waiting.revents & (POLLERR | POLLHUP)) != 0) break;
    }
}

void Server::start_if_due(const Execute& execute) {
  if (!start_at_ || Clock::now() < *start_at_) return;
  start_at_.reset();
  Command command;
  command.verb = Verb::start;
  command.text = "START";
  if (const auto answer = execute(command); !answer.done) say("START=SEC: " + answer.text);
}

void Server::serve(Connection& connection, const Execute& execute) {
  while (!ends_) {
    const auto message = connection.next_message();
    if (!message) return;
    execute_message(connection, *message, execute);
    connection.send();
  }
}

void Server::execute_message(Connection& connection, const std::string& message,
                             const Execute& execute) {
  const auto commands = parse_commands(message);
  bool done = true;
  std::string text, classic;
  for (const auto& command : commands) {
    if (settings_.log_commands)
      say("command '" + printable(command.text) + "' from " +
          (connection.is_local() ? "process " + std::to_string(peer_pid(connection.fd()))
                                 : "port " + std::to_string(listeners_.port())));
    const auto answer = execute_command(connection, command, execute);
    done = done && answer.done;
    if (!answer.text.empty()) text += (text.empty() ? "" : "\n") + answer.text;
    if (command.verb == Verb::query_pid && commands.size() == 1) classic = answer.text;
    if (command.verb == Verb::shutdown && answer.done) ends_ = true;
    if (ends_) break;
  }
  // Before the client learns that no more commands are accepted.
  if (ends_) listeners_.remove_files();
  connection.answer(done, text, classic);
}

Answer Server::execute_command(const Connection& connection, const Command& command,
                               const Execute& execute) {
  switch (command.verb) {
    case Verb::refused:
      return {false, command.problem};
    case Verb::help:
    case Verb::all_help:
      return {true, commands_help(command.verb == Verb::all_help)};
    case Verb::query_pid:
      return {true, std::to_string(settings_.pid)};
    case Verb::log_commands:
      settings_.log_commands = true;
      return {true, "each command is reported on the JVM's stderr"};
    case Verb::log_names:
      if (!connection.is_local())
        return {false, "'" + command.text + "': paths are accepted only through the Unix socket"};
      break;
    case Verb::start:
    case Verb::stop:
      if (command.verb == Verb::stop && start_at_) {
        start_at_.reset();
        const auto answer = execute(command);
        return {true, answer.done ? answer.text : "the start that was to come is cancelled"};
      }
      start_at_.reset();
      if (command.seconds == 0) break;
      if (command.gc_first)
        return {false, "'" + command.text + "': GC is executed at once; write FGC,START=SEC"};
      start_at_ = Clock::now() + std::chrono::seconds(command.seconds);
      return {true, "the recording starts in " + std::to_string(command.seconds) + " seconds"};
    default:
      break;
  }
  return execute(command);
}

}  // namespace pi::jprof
