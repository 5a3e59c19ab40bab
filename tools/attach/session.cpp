// SPDX-License-Identifier: MIT
// One run of pitrace-attach: the parent process, which keeps the caller's rights and opens no file
// of the target.
#include "session.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <utility>

#include <cli.h>
#include <fmt/format.h>
#include <pi/uninterrupted.h>

#include "attach_protocol.h"
#include "channel.h"
#include "log_store.h"
#include "session_child.h"

namespace pi::attach {
namespace {

constexpr std::chrono::seconds slack{3};          // for the child's work besides waiting
constexpr std::chrono::seconds fetch_limit{300};  // for all logs together

void note(std::string_view text) {
  pi::cli::to_stderr(fmt::format("pitrace-attach: {}\n", escaped(text)));
}

Error no_word(const Target& target) {
  return {1,
          fmt::format("No answer from the child process that acts as the user of process {}: the "
                      "file system may hang, or the user's processes were killed.",
                      target.pid())};
}

// The child and the channel to it. The destructor kills a child that still runs, and does not wait
// for one that is blocked in a file system.
class Child {
 public:
  static Result<Child> start(const Target& target, const ChildPlan& plan) {
    int ends[2];
    if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0)
      return Error{1, fmt::format("Cannot create a socket pair: {}.", std::strerror(errno))};
    Child child;
    child.channel_ = UniqueFd(ends[0]);
    UniqueFd other(ends[1]);
    std::fflush(nullptr);
    child.pid_ = ::fork();
    if (child.pid_ < 0)
      return Error{1, fmt::format("Cannot create a process: {}.", std::strerror(errno))};
    if (child.pid_ == 0) run_child(target, plan, other.get());
    return child;
  }
  Child(Child&& other) noexcept
      : pid_(std::exchange(other.pid_, -1)), channel_(std::move(other.channel_)) {}
  Child& operator=(Child&&) = delete;
  ~Child() {
    if (pid_ <= 0) return;
    ::kill(pid_, SIGKILL);
    for (int tries = 0; tries < 100 && ::waitpid(pid_, nullptr, WNOHANG) == 0; ++tries)
      ::poll(nullptr, 0, 10);
  }

  int channel() const { return channel_.get(); }
  void ask_to_finish() const { ::shutdown(channel_.get(), SHUT_WR); }

 private:
  Child() = default;
  pid_t pid_ = -1;
  UniqueFd channel_;
};

// The first character is the code; the child is not trusted.
Error failure(const Packet& packet) {
  const bool no_jvm = packet.payload.starts_with(static_cast<char>('0' + not_a_jvm));
  return {
      no_jvm ? not_a_jvm : 1,
      escaped(std::string_view(packet.payload).substr(std::min<size_t>(1, packet.payload.size())))};
}

Status may_act_for(const Target& target) {
  const ProcStatus& status = target.status();
  if (!status.one_user)
    return Error{1, fmt::format("Process {} has more than one user or group id. Attaching to it is "
                                "not permitted.",
                                target.pid())};
  if (::geteuid() == 0) return {};
  if (status.uid != ::geteuid())
    return Error{1, fmt::format("Process {} belongs to user {}. Run as that user, or as root.",
                                target.pid(), status.uid)};
  return {};
}

// Ending signals are read from a descriptor. Ignored ones stay ignored: a shell that starts this in
// the background handles Ctrl-C itself.
UniqueFd make_signalfd() {
  sigset_t ending;
  sigemptyset(&ending);
  for (const int signal : {SIGTERM, SIGINT, SIGHUP}) {
    struct sigaction now {};
    if (::sigaction(signal, nullptr, &now) == 0 && now.sa_handler != SIG_IGN)
      sigaddset(&ending, signal);
  }
  ::sigprocmask(SIG_BLOCK, &ending, nullptr);
  return UniqueFd(::signalfd(-1, &ending, SFD_CLOEXEC));
}

// Waits until standard input ends, an ending signal arrives, or the child ends.
void wait_for_end(const Child& child, int signals) {
  for (;;) {
    pollfd waiting[] = {
        {STDIN_FILENO, POLLIN, 0}, {signals, POLLIN, 0}, {child.channel(), POLLIN, 0}};
    const int ready = uninterrupted([&] { return ::poll(waiting, 3, -1); });
    if (ready < 0 || waiting[1].revents != 0 || waiting[2].revents != 0) return;
    if (waiting[0].revents == 0) continue;
    char ignored[256];
    if (uninterrupted([&] { return ::read(STDIN_FILENO, ignored, sizeof ignored); }) <= 0) return;
  }
}

class Fetch {
 public:
  Fetch(int directory, LogOwner owner) : store_(directory, owner) {}

  void take(const Packet& packet) {
    switch (packet.kind) {
      case PacketKind::log_begins:
        return begin(packet.payload);
      case PacketKind::log_bytes:
        return use(store_.add(packet.payload));
      case PacketKind::log_ends:
        return use(store_.finish());
      default:
        note(packet.payload);
    }
  }

 private:
  // The log of threads is stored only after that of code: post(1) checks the owner of the latter.
  void begin(const std::string& kind) {
    if (kind == "0" && store_.stored() == 0) return use(store_.begin(0));
    if (kind == "1" && store_.stored() == 1) return use(store_.begin(1));
    store_.abandon();
  }

  void use(const Status& status) {
    if (status) return;
    note("log not copied: " + status.error().message);
    store_.abandon();
  }

  LogStore store_;
};

// The rest of the child's packets, up to its last one.
Status finish(const Target& target, const Child& child, const Plan& plan, int directory) {
  const LogOwner owner{target.pid(), target.status().inner_pid, target.pid_namespace()};
  Fetch fetch(directory, owner);
  const Deadline all(fetch_limit + plan.timeout);
  unsigned notes = 0;
  while (!all.is_over()) {
    const auto packet = receive_packet(child.channel(), Deadline(plan.timeout + slack));
    if (!packet) return no_word(target);
    if (packet->kind == PacketKind::done) return {};
    if (packet->kind == PacketKind::failed) return failure(*packet);
    if (packet->kind == PacketKind::note && ++notes > 10) return no_word(target);
    fetch.take(*packet);
  }
  return no_word(target);
}

}  // namespace

Status check(const Target& target) {
  if (auto may = may_act_for(target); !may) return may;
  if (auto jvm = target.looks_like_jvm(); !jvm) return jvm;
  if (target.status().catches_quit) return {};
  return Error{1,
               fmt::format("Process {} does not catch SIGQUIT. A Java virtual machine needs this "
                           "signal to open its attach socket.",
                           target.pid())};
}

Status load(const Target& target, const Plan& plan) {
  if (auto may = may_act_for(target); !may) return may;
  ChildPlan child_plan;
  child_plan.plan = &plan;
  const auto child = Child::start(target, child_plan);
  if (!child) return child.error();
  const Deadline deadline(plan.timeout + slack);
  const auto packet = receive_packet(child->channel(), deadline);
  if (packet && packet->kind == PacketKind::failed) return failure(*packet);
  if (!packet || packet->kind != PacketKind::reply) return no_word(target);
  fmt::print("{}\n", escaped(packet->payload));
  return {};
}

Status follow(const Target& target, const Plan& plan) {
  if (auto may = may_act_for(target); !may) return may;
  const UniqueFd directory(::open(plan.directory.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  const UniqueFd agent(::open(plan.library.c_str(), O_RDONLY | O_CLOEXEC));
  ChildPlan child_plan;
  child_plan.plan = &plan;
  child_plan.follows = true;
  child_plan.agent = agent.get();
  child_plan.same_user = target.status().uid == ::geteuid();
  if (!directory || ::fstat(directory.get(), &child_plan.directory_is) != 0)
    return Error{1, fmt::format("Cannot open {}: {}.", plan.directory, std::strerror(errno))};
  if (!agent)
    return Error{1, fmt::format("Cannot open {}: {}.", plan.library, std::strerror(errno))};
  const UniqueFd signals = make_signalfd();
  const auto child = Child::start(target, child_plan);
  if (!child) return child.error();
  const auto packet = receive_packet(child->channel(), Deadline(plan.timeout + slack));
  if (packet && packet->kind == PacketKind::failed) return failure(*packet);
  if (!packet || packet->kind != PacketKind::loaded) return no_word(target);
  fmt::print("attached\n");
  std::fflush(stdout);
  wait_for_end(*child, signals.get());
  child->ask_to_finish();
  return finish(target, *child, plan, directory.get());
}

}  // namespace pi::attach
