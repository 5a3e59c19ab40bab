// SPDX-License-Identifier: MIT
// Which processes belong to root or to the recorder's user.
#include "own_processes.h"

#include <unistd.h>

#include <charconv>
#include <string_view>

#include <fmt/format.h>
#include <pi/files.h>

namespace pi::swtrace {
namespace {

constexpr size_t max_known = 1 << 12;
constexpr size_t max_status = 1 << 14;

}  // namespace

// Not by the owner of the directory in /proc, which is root's for any process that hides its
// memory.
bool OwnProcesses::has(uint32_t pid) {
  const auto known = known_.find(pid);
  if (known != known_.end()) return known->second;
  bool is_own = false;
  if (const auto status = read_system_file(fmt::format("{}/{}/status", proc_, pid), max_status)) {
    constexpr std::string_view line = "\nUid:\t";
    const size_t at = status->find(line);
    uid_t user = 0;
    is_own =
        at != std::string::npos &&
        std::from_chars(status->data() + at + line.size(), status->data() + status->size(), user)
                .ec == std::errc{} &&
        (user == 0 || user == ::getuid());
  }
  if (known_.size() >= max_known) known_.clear();
  known_[pid] = is_own;
  return is_own;
}

}  // namespace pi::swtrace
