// SPDX-License-Identifier: MIT
// A command that waits for release(), so that counters can be opened for it first.
#include "command.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>
#include <csignal>

#include <cerrno>
#include <system_error>

#include <fmt/format.h>
#include <pi/uninterrupted.h>

namespace pi::cpi {
namespace {

struct Pipe {
  UniqueFd read_end, write_end;
};

Result<Pipe> make_pipe() {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) == 0) return Pipe{UniqueFd(ends[0]), UniqueFd(ends[1])};
  return Error{-1,
               fmt::format("Cannot create a pipe: {}.", std::generic_category().message(errno))};
}

ssize_t read_some(int fd, void* buffer, size_t bytes) {
  return uninterrupted([&] { return ::read(fd, buffer, bytes); });
}

[[noreturn]] void become(std::vector<char*>& arguments, int go, int failure) {
  char byte = 0;
  if (read_some(go, &byte, 1) != 1) ::_exit(1);
  ::execvp(arguments[0], arguments.data());
  const int error = errno;
  (void)!::write(failure, &error, sizeof error);
  ::_exit(1);
}

}  // namespace

Result<Command> Command::make(const std::vector<std::string>& words) {
  std::vector<char*> arguments;
  for (const auto& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  auto go = make_pipe();
  if (!go) return go.error();
  auto failure = make_pipe();
  if (!failure) return failure.error();
  const pid_t pid = ::fork();
  if (pid < 0)
    return Error{
        -1, fmt::format("Cannot create a process: {}.", std::generic_category().message(errno))};
  if (pid == 0) {
    go->write_end.reset();
    failure->read_end.reset();
    become(arguments, go->read_end.get(), failure->write_end.get());
  }
  return Command(pid, words.front(), std::move(go->write_end), std::move(failure->read_end));
}

Command::~Command() {
  if (!go_) return;
  go_.reset();
  (void)wait();
}

Status Command::release() {
  // Ctrl-C and Ctrl-\ are for the command; its counts are still reported.
  ::signal(SIGINT, SIG_IGN);
  ::signal(SIGQUIT, SIG_IGN);
  const char byte = 1;
  (void)!::write(go_.get(), &byte, 1);
  go_.reset();
  int error = 0;
  if (read_some(failure_.get(), &error, sizeof error) != sizeof error) return {};
  (void)wait();
  return Error{-1,
               fmt::format("Cannot run '{}': {}.", name_, std::generic_category().message(error))};
}

int Command::wait() {
  int status = 0;
  (void)uninterrupted([&] { return ::waitpid(pid_, &status, 0); });
  constexpr int killed = 128;
  return WIFSIGNALED(status) ? killed + WTERMSIG(status) : WEXITSTATUS(status);
}

}  // namespace pi::cpi
