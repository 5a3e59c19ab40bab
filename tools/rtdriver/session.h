// SPDX-License-Identifier: MIT
// Sends commands to the JVMs and prints their answers.
#ifndef PI_RTDRIVER_SESSION_H
#define PI_RTDRIVER_SESSION_H

#include <chrono>
#include <string>
#include <vector>

#include "schedule.h"
#include "targets.h"

namespace pi::rtdriver {

struct SessionSettings {
  bool comma = true;        // before each command
  bool from_start = false;  // -ta
  bool json = false;
};

class Session {
 public:
  Session(std::vector<Jvm> jvms, const SessionSettings& settings)
      : jvms_(std::move(jvms)), settings_(settings) {}

  void run(const std::vector<Step>& steps);
  // Reads commands from the standard input.
  void interact();

  bool ended() const { return ended_; }    // by a command, or because no JVM is left
  bool failed() const { return failed_; }  // a command was not done

 private:
  using Clock = std::chrono::steady_clock;

  void execute(const std::string& line);
  void execute_locally(const std::string& command);
  void send(const std::string& message, bool to_all, bool shuts_down);
  void print_answer(const Jvm& jvm, const std::string& message, const Answer& answer) const;

  std::vector<Jvm> jvms_;
  SessionSettings settings_;
  Clock::time_point begin_ = Clock::now();
  bool ended_ = false;
  bool failed_ = false;
};

}  // namespace pi::rtdriver

#endif  // PI_RTDRIVER_SESSION_H
