// SPDX-License-Identifier: MIT
// swtrace it_run: executes a command whose branches are traced from its first instruction on.
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>

#include <fmt/format.h>
#include <pi/unique_fd.h>

#include "cli.h"
#include "commands.h"
#include "perfutil.h"
#include "recorder.h"
#include "service.h"

namespace pi::swtrace {
namespace {

// Bound when this program is loaded, so that the dynamic linker does not run while it is traced.
int (*const volatile execute)(const char*, char* const*) = ::execv;

constexpr int exit_not_found = 127;
constexpr int exit_not_executable = 126;

// The file that the shell would run for a name; the name itself if there is none.
std::string find_program(const std::string& name) {
  if (name.find('/') != std::string::npos) return name;
  const char* path = std::getenv("PATH");
  std::string_view rest = path ? path : "/usr/bin:/bin";
  for (;;) {
    const size_t colon = rest.find(':');
    const std::string directory(rest.substr(0, colon));
    const std::string file = (directory.empty() ? "." : directory) + "/" + name;
    struct stat facts {};
    if (::access(file.c_str(), X_OK) == 0 && ::stat(file.c_str(), &facts) == 0 &&
        S_ISREG(facts.st_mode))
      return file;
    if (colon == std::string_view::npos) return name;
    rest.remove_prefix(colon + 1);
  }
}

// For systems on which only ancestors may trace (kernel.yama.ptrace_scope is 1): a recorder that
// uses ptrace is not one, so it is named; the permission remains after the exec. Nothing else may
// trace.
void permit_recorder(const std::string& socket) {
  const auto path =
      socket.empty() ? service::socket_path(recorder_names) : Result<std::string>(socket);
  const auto reply = path ? service::ask_service(*path, recorder_names, {"status"}) : path.error();
  if (!reply) {
    cli::error(reply.error().message);
    std::exit(cli::exit_failure);
  }
  const auto recorder = parse_number(value_of(reply->text, "recorder"), INT32_MAX);
  if (value_of(reply->text, "source") == "perf" && recorder)
    ::prctl(PR_SET_PTRACER, *recorder, 0, 0, 0);
}

// Called in a child: requests that pid is traced, by the recorder at `socket` if that is not empty.
// Returns the exit status.
int request_following(pid_t pid, const std::string& socket) {
  if (!socket.empty()) ::setenv(recorder_names.variable, socket.c_str(), 1);
  const std::string number = std::to_string(pid);
  const int enabled = ask_and_report({"it_enable", number, number});
  return enabled == cli::exit_good ? ask_and_report({"it_on"}) : enabled;
}

// A child sends the requests, so that the trace of this process does not begin inside them, but
// just before its exec.
[[noreturn]] void run(const Words& command, const std::string& socket) {
  const std::string file = find_program(command.front());
  std::vector<char*> arguments;
  for (const auto& word : command) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  std::array<int, 2> ends{};
  if (::pipe(ends.data()) != 0) {
    cli::error(fmt::format("Cannot create a pipe: {}.", std::strerror(errno)));
    std::exit(cli::exit_failure);
  }
  permit_recorder(socket);
  const pid_t self = ::getpid();
  const pid_t child = ::fork();
  if (child == 0) {
    // Fork again: COMMAND must not have a child that it has not created.
    if (::fork() != 0) ::_exit(0);
    const auto status = static_cast<char>(request_following(self, socket));
    (void)!::write(ends[1], &status, 1);
    ::_exit(0);
  }
  int ended = 0;
  if (child < 0 || ::waitpid(child, &ended, 0) != child) {
    cli::error("Cannot start a process. Raise the limit of processes with 'ulimit -u'.");
    std::exit(cli::exit_failure);
  }
  ::close(ends[1]);
  char status = cli::exit_failure;
  if (::read(ends[0], &status, 1) == 1 && status == 0) execute(file.c_str(), arguments.data());
  if (status != 0) std::exit(status);
  const int error = errno;
  (void)ask({"it_off"});
  cli::error(fmt::format("Cannot execute '{}': {}.", command.front(), std::strerror(error)));
  std::exit(error == ENOENT ? exit_not_found : exit_not_executable);
}

}  // namespace

int cmd_it_run(const Words& words) {
  cli::OptionTable table(
      {"swtrace it_run [OPTION]... -- COMMAND [ARG]...",
       "Runs COMMAND in this process with ITrace on from its first instruction. The trace also has "
       "the few instructions of the exec system call before it. Use 'it_install' and 'on' before, "
       "and 'it_off' after it.",
       {"swtrace it_run -- ./myprogram --its options"},
       "Exit status: that of COMMAND; 1 if COMMAND cannot be traced, 126 or 127 if it cannot be "
       "executed, 255 wrong use."});
  table.group("Options")("socket", cli::text("PATH"),
                         "socket of the recorder; PITRACE_SOCKET is then passed to COMMAND "
                         "unchanged");
  const auto mark = std::find(words.begin(), words.end(), "--");
  const auto outcome = table.parse({words.begin(), mark});
  if (outcome.exit) return *outcome.exit;
  if (mark != words.end() && mark + 1 != words.end())
    run({mark + 1, words.end()}, outcome.values.has("socket") ? outcome.values.text("socket") : "");
  cli::error("No command is given. Use: swtrace it_run -- COMMAND [ARG]...");
  return cli::exit_usage;
}

}  // namespace pi::swtrace
