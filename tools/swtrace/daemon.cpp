// SPDX-License-Identifier: MIT
// Starts the recorder: detached from the caller's session, terminal, directory and files.
#include <fcntl.h>
#include <linux/close_range.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include <cerrno>
#include <cstdlib>
#include <string>

#include <pi/unique_fd.h>

#include "perfutil.h"
#include "recorder.h"

namespace pi::swtrace {
namespace {

constexpr int report_place = 3;  // descriptor of the report's pipe in the recorder

// Nothing of the caller's stays open: a shell that waits for the end of its pipes must not wait
// for the recorder.
void leave_caller_behind(int report_fd) {
  const int null = ::open("/dev/null", O_RDWR);
  for (int fd = 0; fd < report_place; ++fd) ::dup2(null, fd);
  if (report_fd != report_place) ::dup2(report_fd, report_place);
  ::syscall(SYS_close_range, report_place + 1, ~0u, 0);
  ::fcntl(report_place, F_SETFD, FD_CLOEXEC);
  ::umask(077);
  if (::chdir("/") != 0) return;  // only keeps a file system busy
}

// In the child: a session of its own, then a grandchild that can never get a terminal again.
[[noreturn]] void become_recorder(const InitRequest& request, const std::string& path,
                                  int report_fd) {
  ::setsid();
  const pid_t pid = ::fork();
  if (pid != 0) ::_exit(pid < 0);
  leave_caller_behind(report_fd);
  std::_Exit(run_recorder(request, path, report_place));
}

std::string read_to_end(int fd) {
  std::string text;
  char part[4096];
  for (;;) {
    const ssize_t got = ::read(fd, part, sizeof part);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return text;
    text.append(part, static_cast<size_t>(got));
  }
}

}  // namespace

Reply start_recorder(const InitRequest& request, const std::string& path) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return {PU_FAILURE, "No pipe can be made for the recorder."};
  const UniqueFd read_end(ends[0]);
  UniqueFd write_end(ends[1]);
  const pid_t child = ::fork();
  if (child < 0) return {PU_FAILURE, "No process can be started for the recorder."};
  if (child == 0) become_recorder(request, path, write_end.get());
  write_end.reset();
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  const auto reply = decode_reply(read_to_end(read_end.get()));
  if (reply) return *reply;
  return {PU_FAILURE,
          "The recorder ended before it could tell why; it may have been killed, for "
          "instance for lack of memory."};
}

}  // namespace pi::swtrace
