// SPDX-License-Identifier: MIT
// The ids of a task in its own pid namespace (NStgid, NSpid), from /proc.
#ifndef PI_PERFUTIL_NAMESPACE_IDS_H
#define PI_PERFUTIL_NAMESPACE_IDS_H

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace pi::perfutil {

struct NamespaceIds {
  uint32_t pid = 0;
  uint32_t tid = 0;
};

// The ids in the innermost namespace, from the text of /proc/PID/task/TID/status; nothing when that
// is the namespace of /proc itself.
std::optional<NamespaceIds> parse_namespace_ids(std::string_view status);

class NamespaceIdReader {
 public:
  explicit NamespaceIdReader(std::string proc);

  // Inode number of the pid namespace that /proc and this process's perf records count in.
  uint64_t own_namespace() const { return own_; }

  // Inode number of the process's pid namespace; 0 when the process has ended or is another user's.
  uint64_t namespace_of(uint32_t pid) const;

  // Nothing for a task of our own namespace, and for one that has ended.
  std::optional<NamespaceIds> find(uint32_t pid, uint32_t tid) const;

 private:
  std::string proc_;
  uint64_t own_ = 0;
};

}  // namespace pi::perfutil

#endif  // PI_PERFUTIL_NAMESPACE_IDS_H
