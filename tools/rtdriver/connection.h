// SPDX-License-Identifier: MIT
// A connection to the command server of one JVM, whose answers are not trusted.
#ifndef PI_RTDRIVER_CONNECTION_H
#define PI_RTDRIVER_CONNECTION_H

#include <string>

#include <pi/deadline.h>
#include <pi/result.h>
#include <pi/unique_fd.h>

#include "jvms.h"

namespace pi::rtdriver {

struct Answer {
  bool done = false;
  std::string text;
};

constexpr int not_listening = -2;  // an Error::code: no process accepts connections there

class Connection {
 public:
  // Errors: a sentence, without the name of the JVM.
  static Result<Connection> to_socket(const JvmSocket& jvm);
  static Result<Connection> to_port(unsigned port, const std::string& key);
  // A connected socket whose other end speaks the protocol, for tests.
  static Result<Connection> on(UniqueFd fd, const std::string& key);

  // A command and its answer are separate, so that several JVMs work at the same time.
  Status send(const std::string& message) const;
  // What has arrived is read even after the deadline.
  Result<Answer> receive(const Deadline& deadline) const;

 private:
  explicit Connection(UniqueFd fd) : fd_(std::move(fd)) {}

  Status expect_acceptance(const char* refusal) const;

  UniqueFd fd_;
};

}  // namespace pi::rtdriver

#endif  // PI_RTDRIVER_CONNECTION_H
