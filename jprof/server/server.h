// SPDX-License-Identifier: MIT
// The command server: accepts clients and executes their commands, in one thread.
#ifndef PI_JPROF_SERVER_H
#define PI_JPROF_SERVER_H

#include <cstdint>
#include <list>
#include <optional>
#include <string>

#include <pi/result.h>
#include <pi/unique_fd.h>

#include "server/commands.h"
#include "server/connection.h"
#include "server/listeners.h"

namespace pi::jprof {

class Server {
 public:
  struct Settings {
    uint32_t pid = 0;
    unsigned port = 0;          // the first one to try; 0: no port
    bool log_commands = false;  // on stderr
    Connection::Patience patience;
  };

  // Prepares to listen. Error: there is no socket. A port that cannot be used is reported to
  // stderr.
  Status open(const Settings& settings);

  // Executes commands until one of them is SHUTDOWN, or stop() is called.
  void run(const Execute& execute);

  // From another thread: removes the files, and ends run() when it next waits.
  void stop();

  // Ends the listening and all connections; not while run() is active in another thread.
  void close();

  // The socket and the port, for messages.
  std::string description() const;

 private:
  using Clock = Connection::Clock;

  void accept_from(int listener, bool local);
  void make_room(bool local);
  void wait();
  int timeout(Clock::time_point now) const;
  void serve(Connection& connection, const Execute& execute);
  void execute_message(Connection& connection, const std::string& message, const Execute& execute);
  Answer execute_command(const Connection& connection, const Command& command,
                         const Execute& execute);
  void start_if_due(const Execute& execute);
  void say_farewell();

  Settings settings_;
  Listeners listeners_;
  UniqueFd wake_;
  std::list<Connection> connections_;
  std::optional<Clock::time_point> start_at_;      // START=SEC
  std::optional<Clock::time_point> accept_again_;  // after an error of accept()
  bool ends_ = false;
};

}  // namespace pi::jprof

#endif  // PI_JPROF_SERVER_H
