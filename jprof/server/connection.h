// SPDX-License-Identifier: MIT
// One client of the command server. Nothing in it waits, and its memory is limited.
#ifndef PI_JPROF_CONNECTION_H
#define PI_JPROF_CONNECTION_H

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

#include <pi/unique_fd.h>

#include "server/message_reader.h"

namespace pi::jprof {

class Connection {
 public:
  using Clock = std::chrono::steady_clock;
  // How long the server waits for the key, for the first message and for the rest of one, and for a
  // client that does not read its answers.
  struct Patience {
    std::chrono::milliseconds key{2'000};
    std::chrono::milliseconds rest{10'000};
  };

  // fd: a connected socket, which does not block. key: of the port; empty for a Unix socket.
  Connection(UniqueFd fd, std::string key, const Patience& patience);

  int fd() const { return fd_.get(); }
  bool is_local() const { return local_; }
  bool needs_key() const { return reader_.needs_key(); }

  short events() const;                               // to poll() for
  std::optional<Clock::time_point> deadline() const;  // when it is dropped if nothing happens
  bool is_over(Clock::time_point now);                // to be closed

  // To be called when poll() reports the events.
  void receive();
  void send();

  // The next whole message, if the answers before it were sent.
  std::optional<std::string> next_message();
  // text: for clients that use frames. classic: the answer for others, or empty for 'K' or 'N'.
  void answer(bool done, std::string_view text, std::string_view classic);
  // Sends why, and closes the connection then.
  void refuse(std::string_view why);

 private:
  bool expects_more() const;

  UniqueFd fd_;
  bool local_;
  Patience patience_;
  MessageReader reader_;
  std::string output_;
  bool received_all_ = false;  // the kernel had no more bytes
  bool ended_ = false;         // the client sends nothing more
  bool closing_ = false;       // after output_
  bool broken_ = false;
  Clock::time_point changed_;  // when the last byte was received or sent
};

}  // namespace pi::jprof

#endif  // PI_JPROF_CONNECTION_H
