// SPDX-License-Identifier: MIT
// A command that waits to be let go, so that counters can be made for it first.
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
  // words is not empty. A process that has not become the command yet.
  static Result<Command> make(const std::vector<std::string>& words);
  Command(Command&& other) noexcept = default;
  Command& operator=(Command&&) = delete;
  // One that was not let go ends without having been the command.
  ~Command();

  pid_t pid() const { return pid_; }
  // The error: the command cannot be run.
  Status release();
  // Until it has ended: its exit status, or 128 and the number of the signal that killed it.
  int wait();

 private:
  Command(pid_t pid, std::string name, UniqueFd go, UniqueFd failure)
      : pid_(pid), name_(std::move(name)), go_(std::move(go)), failure_(std::move(failure)) {}

  pid_t pid_;
  std::string name_;
  UniqueFd go_;       // a byte lets it go, the end does not
  UniqueFd failure_;  // the error number of its exec, or the end
};

}  // namespace pi::cpi

#endif  // PI_CPI_COMMAND_H
