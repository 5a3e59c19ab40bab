// SPDX-License-Identifier: MIT
// The control group of a process, from /proc/PID/cgroup.
#include "cgroup.h"

#include <fmt/format.h>
#include <pitrace/abi.h>

#include "system/text.h"

namespace pi::perfutil {
namespace {

// A line for each hierarchy, of which there are a dozen at most.
constexpr size_t most_bytes = 64 << 10;

}  // namespace

// A line is "NUMBER:CONTROLLERS:PATH"; the unified hierarchy has number 0 and no controllers. With
// systemd's mixed set-up that one has the same groups as systemd's own of version 1.
std::optional<Cgroup> parse_cgroup(std::string_view text) {
  std::optional<Cgroup> found;
  int found_rank = 0;
  while (!text.empty()) {
    std::string_view path = next_word(text, '\n');
    const auto number = parse_number(next_word(path, ':'));
    const std::string_view controllers = next_word(path, ':');
    if (!number || !path.starts_with('/') || path.size() > PITRACE_MAX_STRING) continue;
    const bool unified = *number == 0 && controllers.empty();
    // A root in the unified hierarchy means that it is not used, if there is another one.
    const int rank = unified ? (path == "/" ? 1 : 4) : controllers == "name=systemd" ? 3 : 2;
    if (rank <= found_rank) continue;
    found_rank = rank;
    found.emplace();
    found->hierarchy = unified ? PITRACE_CGROUP_V2 : PITRACE_CGROUP_V1;
    found->path = path;
  }
  return found;
}

std::optional<Cgroup> read_cgroup(const std::string& proc, uint32_t pid) {
  const auto text = read_text(fmt::format("{}/{}/cgroup", proc, pid), most_bytes);
  return text ? parse_cgroup(*text) : std::nullopt;
}

}  // namespace pi::perfutil
