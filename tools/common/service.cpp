// SPDX-License-Identifier: MIT
// A daemon that keeps resources open between a tool's commands and serves these commands. It is
// detached from the caller's session, terminal, directory and files, and ends by a request or a
// signal.
#include "service.h"

#include <fcntl.h>
#include <linux/close_range.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <csignal>

#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <thread>

#include <fmt/format.h>
#include <pi/files.h>
#include <pi/uninterrupted.h>
#include <pi/unique_fd.h>
#include <pi/user_socket.h>

namespace pi::service {
namespace {

constexpr int report_descriptor = 3;  // descriptor of the report's pipe in the new process

constexpr int failure = -1;  // as perfutil.h has them
constexpr int invalid_parameter = -87;

// Closes inherited descriptors: a shell that waits for the end of its pipes must not wait for the
// service. False if the limit of open files is too low; report_fd is then still open.
bool detach_from_caller(int report_fd) {
  // The pipe first, since it may be one of 0 to 2 if the caller closed these, and in the place of
  // an inherited descriptor, since the limit may permit no other.
  if (report_fd != report_descriptor && ::dup2(report_fd, report_descriptor) < 0) return false;
  ::fcntl(report_descriptor, F_SETFD, FD_CLOEXEC);
  ::syscall(SYS_close_range, report_descriptor + 1, ~0u, 0);
  const int null = ::open("/dev/null", O_RDWR);
  if (null < 0) return false;
  for (int fd = 0; fd < report_descriptor; ++fd) ::dup2(null, fd);
  if (null > report_descriptor) ::close(null);
  ::umask(077);
  (void)!::chdir("/");  // a failure is harmless: a file system stays busy
  return true;
}

// Signals that end the service are read from a descriptor, made before any thread starts, so that
// all threads inherit the mask.
UniqueFd make_signalfd() {
  sigset_t ending;
  sigemptyset(&ending);
  for (const int signal : {SIGTERM, SIGINT, SIGHUP, SIGQUIT}) sigaddset(&ending, signal);
  ::sigprocmask(SIG_BLOCK, &ending, nullptr);
  ::signal(SIGPIPE, SIG_IGN);
  return UniqueFd(::signalfd(-1, &ending, SFD_CLOEXEC));
}

// Each CPU, and each thread of a process, may need some descriptors.
void allow_many_files() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  limit.rlim_cur = limit.rlim_max;
  ::setrlimit(RLIMIT_NOFILE, &limit);
}

// A reply that is sent after all resources are released, so that the client may start a new service
// at once.
struct PendingReply {
  UniqueFd peer;
  Reply reply;
};

// Serves one connection: one request, one reply. A silent peer is dropped after 5 seconds. True
// after a request to end; its reply is in `pending`.
bool serve(const Service& service, int listener, PendingReply& pending) {
  UniqueFd peer(::accept4(listener, nullptr, nullptr, SOCK_CLOEXEC));
  if (!peer || !is_trusted_peer(peer.get())) return false;
  const timeval patience{5, 0};
  ::setsockopt(peer.get(), SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
  ::setsockopt(peer.get(), SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
  std::string packet;
  if (!receive_packet(peer.get(), max_request_bytes, packet)) return false;
  bool asked_to_end = false;
  const auto request = decode_request(packet);
  Reply reply = request ? service.answer(*request, asked_to_end)
                        : Reply{invalid_parameter, "The request is malformed."};
  if (asked_to_end)
    pending = {std::move(peer), std::move(reply)};
  else
    (void)send_packet(peer.get(), encode_reply(reply));
  return asked_to_end;
}

// Serves until a request or a signal to end.
PendingReply serve_all(const Service& service, int listener, int signals) {
  PendingReply pending;
  for (;;) {
    pollfd waiting[] = {{signals, POLLIN, 0}, {listener, POLLIN, 0}};
    const int ready = uninterrupted([&] { return ::poll(waiting, 2, -1); });
    if (ready < 0 || waiting[0].revents != 0) return pending;
    if (waiting[1].revents != 0 && serve(service, listener, pending)) return pending;
  }
}

void report(int fd, const Reply& reply) {
  (void)write_all(fd, text_bytes(encode_reply(reply)));
  ::close(fd);
}

// The service process; returns its exit status.
int run_service(const Service& service, int report_fd) {
  const UniqueFd signals = make_signalfd();
  allow_many_files();
  auto lock = take_socket_lock(service.path);
  if (!lock) return report(report_fd, {failure, lock.error().message}), 1;
  if (!lock->fd)
    return report(report_fd, {already_runs,
                              fmt::format("facility busy: {} pid {} is running; end it with '{}'.",
                                          service.names.server, lock->holder, service.names.end)}),
           1;
  const Reply begun = service.begin();
  if (begun.rc != 0) return report(report_fd, begun), 1;
  const auto listener = listen_at(service.path);
  if (!listener) return report(report_fd, {failure, listener.error().message}), 1;
  report(report_fd, begun);
  const PendingReply pending = serve_all(service, listener->get(), signals.get());
  ::unlink(service.path.c_str());
  service.end();
  lock->fd.reset();
  if (pending.peer) (void)send_packet(pending.peer.get(), encode_reply(pending.reply));
  return 0;
}

// Runs in the child: a new session, then a grandchild that can never get a terminal again.
[[noreturn]] void become_service(const Service& service, int report_fd) {
  ::setsid();
  const pid_t pid = ::fork();
  if (pid != 0) ::_exit(pid < 0);
  if (!detach_from_caller(report_fd)) {
    report(report_fd, {failure, fmt::format("Cannot start the {}: the limit of open files is too "
                                            "low. Raise it with 'ulimit -n'.",
                                            service.names.server)});
    std::_Exit(1);
  }
  std::_Exit(run_service(service, report_descriptor));
}

// Why a request got no answer: no service listens at the path any more, or one does and did not
// answer. The socket of a killed service takes connections until the kernel has closed it.
Error why_no_answer(const std::string& path, const Names& names) {
  for (int attempt = 0; attempt < 50; ++attempt) {
    const auto peer = connect_to(path, names);
    if (!peer) return peer.error();
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return Error{failure, fmt::format("The {} did not answer: it may have ended just now. Try again, "
                                    "or start a new one with '{}'.",
                                    names.server, names.start)};
}

}  // namespace

Reply start_service(const Service& service) {
  const char* server = service.names.server;
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0)
    return {failure, fmt::format("Cannot start the {}: cannot create a pipe: {}.", server,
                                 std::strerror(errno))};
  const UniqueFd read_end(ends[0]);
  UniqueFd write_end(ends[1]);
  const pid_t child = ::fork();
  if (child < 0)
    return {failure, fmt::format("Cannot start the {}: cannot create a process: {}.", server,
                                 std::strerror(errno))};
  if (child == 0) become_service(service, write_end.get());
  write_end.reset();
  int status = 0;
  (void)uninterrupted([&] { return ::waitpid(child, &status, 0); });
  if (const auto text = read_whole(read_end.get(), max_reply_bytes))
    if (const auto reply = decode_reply(*text)) return *reply;
  return {
      failure,
      fmt::format("The {} ended without a message. It may have been killed, for instance because "
                  "memory was full.",
                  server)};
}

Result<Reply> ask_service(const std::string& path, const Names& names, const Request& request) {
  const auto peer = connect_to(path, names);
  if (!peer) return peer.error();
  std::string packet;
  // No time limit on the answer: some work takes as long as the disk needs.
  if (send_packet(peer->get(), encode_request(request)) &&
      receive_packet(peer->get(), max_reply_bytes, packet))
    if (auto reply = decode_reply(packet)) return *reply;
  return why_no_answer(path, names);
}

}  // namespace pi::service
