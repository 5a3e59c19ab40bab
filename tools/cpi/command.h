// SPDX-License-Identifier: MIT
// A command that waits for release(), so that counters can be opened for it first.
#ifndef PI_CPI_COMMAND_H
#define PI_CPI_COMMAND_H

#include <sys/types.h>

#include <string>
#include <vector>

#include <pi/result.h>
#include <pi/unique_fd.h>

namespace pi::cpi {

class Command {
 public:
  // Forks a process that waits before its exec. words is not empty.
  static Result<Command> make(const std::vector<std::string>& words);
  Command(Command&& other) noexcept = default;
  Command& operator=(Command&&) = delete;
  // A process that was not released ends without an exec.
  ~Command();

  pid_t pid() const { return pid_; }
  // Lets the command run. Error: it cannot be run.
  Status release();
  // Waits for its end. Returns its exit status, or 128 + the number of the signal that killed it.
  int wait();

 private:
  Command(pid_t pid, std::string name, UniqueFd go, UniqueFd failure)
      : pid_(pid), name_(std::move(name)), go_(std::move(go)), failure_(std::move(failure)) {}

  pid_t pid_;
  std::string name_;
  UniqueFd go_;       // a byte releases the process; end of file ends it
  UniqueFd failure_;  // errno of its exec, or end of file on success
};

}  // namespace pi::cpi

#endif  // PI_CPI_COMMAND_H
