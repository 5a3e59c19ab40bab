// SPDX-License-Identifier: MIT
// The forked process that acts as the target's user: finds files below its root, talks to the JVM,
// and sends the logs to its parent.
#include "session_child.h"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <span>
#include <vector>

#include <fmt/format.h>
#include <pi/files.h>
#include <pi/uninterrupted.h>

#include "attach_protocol.h"
#include "owned_file.h"
#include "channel.h"
#include "credentials.h"
#include "hotspot.h"
#include "log_dir.h"
#include "log_store.h"

namespace pi::attach {
namespace {

constexpr char copied_library[] = "libjprof.so";

class Child {
 public:
  Child(const Target& target, const ChildPlan& plan, int channel)
      : target_(target), plan_(plan), channel_(channel) {}

  void run() {
    auto ready = prepare();
    if (ready) ready = plan_.follows ? follow() : load();
    if (ready)
      send_packet(channel_, PacketKind::done);
    else
      send_packet(channel_, PacketKind::failed,
                  fmt::format("{}{}", ready.error().code, ready.error().message));
  }

 private:
  Deadline deadline() const { return Deadline(plan_.plan->timeout); }
  uid_t uid() const { return target_.status().uid; }
  pid_t inner_pid() const { return target_.status().inner_pid; }

  // First the last step with the caller's rights, then the steps without them.
  Status prepare() {
    std::vector<int> kept{channel_, target_.pidfd(), target_.proc()};
    if (plan_.agent >= 0) kept.push_back(plan_.agent);
    if (auto left = detach_from_caller(kept); !left) return left;
    if (auto jvm = target_.looks_like_jvm(); !jvm) return jvm;
    root_ = UniqueFd(::openat(target_.proc(), "root", O_PATH | O_DIRECTORY | O_CLOEXEC));
    if (!root_)
      return Error{1, fmt::format("cannot open the root directory of process {}: {}", target_.pid(),
                                  std::strerror(errno))};
    cwd_ = UniqueFd(::openat(target_.proc(), "cwd", O_PATH | O_DIRECTORY | O_CLOEXEC));
    // A process of root could have given up its rights since its ids were read. Its directories
    // would be chosen by another user, and this child would use them with the rights of root's ids.
    if (auto same = target_.has_ids_of_status(); !same) return same;
    if (auto became = become_user(uid(), target_.status().gid); !became) return became;
    tmp_ = find_below(root_.get(), "tmp", Below::its_root, O_DIRECTORY);
    if (!tmp_)
      return Error{1,
                   fmt::format("process {} has no /tmp: {}", target_.pid(), std::strerror(errno))};
    return {};
  }

  // Agent_OnAttach() returned 0.
  Result<std::string> load_agent(const std::string& library, const std::string& options) const {
    const Hotspot jvm(target_, tmp_.get(), cwd_.get());
    const auto bytes = jvm.ask(load_request(library, options), deadline());
    if (!bytes) return bytes.error();
    const auto reply = parse_reply(*bytes);
    if (!reply)
      return Error{1, fmt::format("process {} sent an invalid reply: {}", target_.pid(),
                                  bytes->substr(0, 200))};
    if (reply->code == 0 && reply->agent_code == 0) return reply->text;
    if (refuses_agents(*reply))
      return Error{1, fmt::format("process {} was started with -XX:-EnableDynamicAgentLoading, so "
                                  "its Java virtual machine loads no agent while it runs. Restart "
                                  "it with -XX:+EnableDynamicAgentLoading, or with JProf from its "
                                  "start (java -agentpath:{}=tprof)",
                                  target_.pid(), library)};
    return Error{1, reply->text.empty() ? fmt::format("error {} without a message", reply->code)
                                        : reply->text};
  }

  Status load() {
    const auto reply = load_agent(plan_.plan->library, plan_.plan->options);
    if (!reply) return reply.error();
    send_packet(channel_, PacketKind::reply, *reply);
    return {};
  }

  // ---- to follow ----

  // Whether the JVM can load the caller's library by its path.
  bool sees_agent() const {
    const UniqueFd seen = find_below(root_.get(), plan_.plan->library, Below::its_root);
    struct stat ours {
    }, theirs{};
    if (!seen || ::fstat(plan_.agent, &ours) != 0 || ::fstat(seen.get(), &theirs) != 0 ||
        !S_ISREG(theirs.st_mode) || ours.st_dev != theirs.st_dev || ours.st_ino != theirs.st_ino)
      return false;
    return static_cast<bool>(
        UniqueFd(::open(path_of(seen.get()).c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC)));
  }

  // Whether the JVM can write directly to the final directory, and its path can be an option.
  bool sees_directory() const {
    const std::string& path = plan_.plan->directory;
    if (!plan_.same_user || target_.status().in_namespace ||
        path.find_first_of(" \t\n\v\f\r,='\"") != path.npos)
      return false;
    const UniqueFd seen = find_below(root_.get(), path, Below::its_root, O_DIRECTORY);
    struct stat theirs {};
    if (!seen || ::fstat(seen.get(), &theirs) != 0 || theirs.st_dev != plan_.directory_is.st_dev ||
        theirs.st_ino != plan_.directory_is.st_ino)
      return false;
    return ::faccessat(AT_FDCWD, path_of(seen.get()).c_str(), W_OK | X_OK, AT_EACCESS) == 0;
  }

  Status choose_paths() {
    library_ = plan_.plan->library;
    logs_ = plan_.plan->directory;
    const bool agent_seen = sees_agent();
    if (agent_seen && sees_directory()) return {};
    auto made = LogDir::make(tmp_.get(), uid());
    if (!made) return made.error();
    directory_ = std::move(*made);
    logs_ = directory_.path();
    if (agent_seen) return {};
    library_ = directory_.path() + "/" + copied_library;
    return directory_.copy_here(plan_.agent, copied_library);
  }

  void wait_until_asked() const {
    pollfd waiting{channel_, POLLIN, 0};
    (void)uninterrupted([&] { return ::poll(&waiting, 1, -1); });
  }

  void note(const std::string& text) const { send_packet(channel_, PacketKind::note, text); }

  void refuse(const std::string& why) const { note("log not copied: " + why); }

  void send_log(int kind) const {
    const std::string name = log_name(kind, inner_pid());
    const auto log = open_owned(directory_.fd(), name, uid());
    if (!log && log.error().code == ENOENT) return;
    if (!log) return refuse(log.error().message);
    if (log->size > max_log_bytes) return refuse(fmt::format("{} has {} bytes", name, log->size));
    if (!send_packet(channel_, PacketKind::log_begins, std::to_string(kind))) return;
    std::string part(max_payload_bytes, '\0');
    // Only the present size: if JProf could not be detached, the JVM continues to write.
    for (uint64_t left = log->size; left > 0;) {
      const auto wanted = std::span(part).first(std::min<uint64_t>(left, part.size()));
      const auto got = read_on(log->fd.get(), std::as_writable_bytes(wanted));
      if (got.error != 0) return refuse(fmt::format("{}: {}", name, std::strerror(got.error)));
      if (got.bytes == 0) break;
      const auto bytes = std::string_view(part).substr(0, got.bytes);
      // The parent checks this, too. Here the check ends the reading of a file without data.
      if (!is_text(bytes)) return refuse(name + " is not text");
      if (!send_packet(channel_, PacketKind::log_bytes, bytes)) return;
      left -= got.bytes;
    }
    send_packet(channel_, PacketKind::log_ends);
  }

  void clean_up() const {
    if (directory_ && !directory_.remove(copied_library, inner_pid()))
      note(fmt::format("cannot remove {} of process {}: {}", directory_.path(), target_.pid(),
                       std::strerror(errno)));
  }

  Status follow() {
    auto ready = choose_paths();
    if (ready) {
      const auto reply = load_agent(library_, "tprof,logpath=" + logs_);
      if (!reply) ready = reply.error();
    }
    if (!ready) {
      clean_up();
      return ready;
    }
    if (send_packet(channel_, PacketKind::loaded)) wait_until_asked();
    if (target_.is_alive())
      if (const auto left = load_agent(library_, "detach"); !left && target_.is_alive())
        note("cannot detach JProf: " + left.error().message);
    if (directory_)
      for (int kind = 0; kind < log_kinds; ++kind) send_log(kind);
    clean_up();
    return {};
  }

  const Target& target_;
  const ChildPlan& plan_;
  int channel_;
  UniqueFd root_, cwd_, tmp_;
  LogDir directory_;
  std::string library_, logs_;  // as the JVM sees them
};

}  // namespace

void run_child(const Target& target, const ChildPlan& plan, int channel) {
  try {
    Child(target, plan, channel).run();
  } catch (const std::exception& error) {
    send_packet(channel, PacketKind::failed, std::string("1") + error.what());
  }
  ::_exit(0);
}

}  // namespace pi::attach
