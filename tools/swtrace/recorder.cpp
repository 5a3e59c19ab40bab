// SPDX-License-Identifier: MIT
// The recorder's life: owns the trace, serves one request after the other, ends cleanly.
#include "recorder.h"

#include <poll.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <csignal>

#include <cerrno>

#include <fmt/format.h>
#include <pi/unique_fd.h>
#include <pi/user_socket.h>

#include "perfutil.h"
#include "recorder_socket.h"

namespace pi::swtrace {
namespace {

// Signals that end the recorder are read from a descriptor; that is set up before any thread
// starts, so that all threads inherit the mask. A full disk or a file-size limit is an error to
// be reported, not a reason to die.
UniqueFd take_signals() {
  sigset_t ending;
  sigemptyset(&ending);
  for (const int signal : {SIGTERM, SIGINT, SIGHUP, SIGQUIT}) sigaddset(&ending, signal);
  ::sigprocmask(SIG_BLOCK, &ending, nullptr);
  ::signal(SIGPIPE, SIG_IGN);
  ::signal(SIGXFSZ, SIG_IGN);
  return UniqueFd(::signalfd(-1, &ending, SFD_CLOEXEC));
}

// perf needs up to four descriptors a CPU, and in the scope of one process as many for each thread.
void allow_many_files() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  limit.rlim_cur = limit.rlim_max;
  ::setrlimit(RLIMIT_NOFILE, &limit);
}

Reply reply_of(int rc) {
  return {rc, rc == PU_SUCCESS ? "" : PiErrorText()};
}

Reply initialise(const InitRequest& request) {
  int rc = PiSetSource(request.source);
  if (rc == PU_SUCCESS) rc = TraceSetScope(request.scope, request.pid);
  if (rc == PU_SUCCESS) rc = TraceSetMteSize(request.mte_bytes);
  if (rc == PU_SUCCESS) rc = TraceSetMode(request.mode);
  if (rc == PU_SUCCESS) rc = TraceSetName(request.file.c_str());
  if (rc == PU_SUCCESS) rc = TraceSetSectionSize(request.section_bytes);
  if (rc == PU_SUCCESS) rc = SetTraceAnonMTE(request.anonymous);
  if (rc == PU_SUCCESS) rc = TraceInit(request.trace_bytes);
  return reply_of(rc);
}

// A reply that is sent only when everything the recorder held has been given back, so that
// whoever asked for the end may start anew at once.
struct Farewell {
  UniqueFd peer;
  Reply reply;
};

// One connection, one request, one reply. A peer that stays silent is left after some seconds.
// True when that was a request to end; its reply is still owed.
bool serve(int listener, Farewell& farewell) {
  UniqueFd peer(::accept4(listener, nullptr, nullptr, SOCK_CLOEXEC));
  if (!peer || !is_trusted_peer(peer.get())) return false;
  const timeval patience{5, 0};
  ::setsockopt(peer.get(), SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
  ::setsockopt(peer.get(), SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
  std::string packet;
  if (!receive_packet(peer.get(), request_bytes_most, packet)) return false;
  bool asked_to_end = false;
  const auto request = decode_request(packet);
  Reply reply = request ? answer(*request, asked_to_end)
                        : Reply{PU_ERROR_INVALID_PARAMETER, "The request is malformed."};
  if (asked_to_end)
    farewell = {std::move(peer), std::move(reply)};
  else
    (void)send_packet(peer.get(), encode_reply(reply));
  return asked_to_end;
}

// Until 'free' or a signal.
Farewell serve_all(int listener, int signals) {
  Farewell farewell;
  for (;;) {
    pollfd waiting[] = {{signals, POLLIN, 0}, {listener, POLLIN, 0}};
    const int ready = ::poll(waiting, 2, -1);
    if (ready < 0 && errno == EINTR) continue;
    if (ready < 0 || waiting[0].revents != 0) return farewell;
    if (waiting[1].revents != 0 && serve(listener, farewell)) return farewell;
  }
}

void report(int fd, const Reply& reply) {
  const std::string text = encode_reply(reply);
  (void)!::write(fd, text.data(), text.size());
  ::close(fd);
}

}  // namespace

int run_recorder(const InitRequest& request, const std::string& path, int report_fd) {
  const UniqueFd signals = take_signals();
  allow_many_files();
  auto lock = take_socket_lock(path);
  if (!lock) return report(report_fd, {PU_FAILURE, lock.error().message}), 1;
  if (!lock->fd)
    return report(report_fd,
                  {PU_ERROR_FACILITY_BUSY,
                   fmt::format("facility busy: recorder pid {} is running; end it with 'swtrace "
                               "free'.",
                               lock->holder)}),
           1;
  const Reply initialised = initialise(request);
  if (initialised.rc != PU_SUCCESS) return report(report_fd, initialised), 1;
  const auto listener = listen_at(path);
  if (!listener) return report(report_fd, {PU_FAILURE, listener.error().message}), 1;
  // The status tells the source, so that init can say it.
  bool asked_to_end = false;
  report(report_fd, answer({"status"}, asked_to_end));
  const Farewell farewell = serve_all(listener->get(), signals.get());
  ::unlink(path.c_str());
  (void)TraceTerminate();
  lock->fd.reset();
  if (farewell.peer) (void)send_packet(farewell.peer.get(), encode_reply(farewell.reply));
  return 0;
}

}  // namespace pi::swtrace
