// SPDX-License-Identifier: MIT
// The process into which the agent is loaded: identified by a pidfd and its /proc directory, so
// that a later process with the same id is never used.
#ifndef PI_ATTACH_TARGET_H
#define PI_ATTACH_TARGET_H

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <pi/result.h>
#include <pi/unique_fd.h>

namespace pi::attach {

// Contents of /proc/PID/status. The kernel writes them; the process chooses only the name.
struct ProcStatus {
  bool one_user = false;  // the real, effective, saved and file-system ids are the same
  uid_t uid = 0;
  gid_t gid = 0;
  pid_t inner_pid = 0;        // its id in its own pid namespace
  bool in_namespace = false;  // that is a namespace below that of /proc
  bool catches_quit = false;  // it has a handler for SIGQUIT
  bool stopped = false;       // by a signal or a debugger
};

std::optional<ProcStatus> parse_status(std::string_view text);

// Whether a process still had all user and group ids that it had before.
bool has_same_ids(const ProcStatus& before, const ProcStatus& now);

// Whether a line of /proc/PID/maps is of executable code from a file NAME.
bool maps_code_of(std::string_view line, std::string_view name);

constexpr int not_a_jvm = 2;  // Error::code, and what the program exits with

class Target {
 public:
  static Result<Target> open(pid_t pid);

  pid_t pid() const { return pid_; }
  int pidfd() const { return pidfd_.get(); }
  int proc() const { return proc_.get(); }
  const ProcStatus& status() const { return status_; }
  // The inode of its pid namespace; 0 when the caller may not see it.
  uint64_t pid_namespace() const { return pid_namespace_; }
  bool is_alive() const;
  // Reads it again.
  std::optional<ProcStatus> read_status() const;
  // Fails if the process does not have the ids in status() any more. Called after its root
  // directory and others were opened in /proc: then they were those of a process with these ids.
  Status has_ids_of_status() const;
  // Fails if it is no HotSpot JVM: not_a_jvm, or 1 when that cannot be determined.
  Status looks_like_jvm() const;

 private:
  pid_t pid_ = 0;
  UniqueFd pidfd_, proc_;
  ProcStatus status_;
  uint64_t pid_namespace_ = 0;
};

}  // namespace pi::attach

#endif  // PI_ATTACH_TARGET_H
