// SPDX-License-Identifier: MIT
// The control group of a process, from /proc/PID/cgroup.
#ifndef PI_PERFUTIL_CGROUP_H
#define PI_PERFUTIL_CGROUP_H

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace pi::perfutil {

struct Cgroup {
  uint32_t hierarchy = 0;  // PITRACE_CGROUP_V2 or PITRACE_CGROUP_V1
  std::string path;        // "/system.slice/ssh.service"
};

// The path in the unified hierarchy (version 2); where that is not used, in the one of systemd, or
// else in the first one of version 1. Nothing if there is none, or if it does not fit into a
// record.
std::optional<Cgroup> parse_cgroup(std::string_view text);

// Of a process that runs now; nothing when it has ended.
std::optional<Cgroup> read_cgroup(const std::string& proc, uint32_t pid);

}  // namespace pi::perfutil

#endif  // PI_PERFUTIL_CGROUP_H
