// SPDX-License-Identifier: MIT
// Names the build-id of every module that a trace's MTE records mention.
#ifndef PI_PERFUTIL_BUILD_IDS_H
#define PI_PERFUTIL_BUILD_IDS_H

#include <map>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "collector.h"

namespace pi::perfutil {

// How a trace's records mention one path.
struct ModuleMentions {
  uint64_t first_time = 0;  // of the earliest mapping, trace clock
  uint64_t inode = 0;       // 0: not known
  bool two_inodes = false;  // different files had this path
  std::set<uint32_t> pids;  // some of the processes that mapped it
};

// By path; anonymous memory is left out. The range is one stream of records.
void collect_modules(std::span<const std::byte> records,
                     std::map<std::string, ModuleMentions>& modules);

// The build-id of the file that was mapped; "-" when it has none, "?" when the file of that path is
// another one now, was changed since, or cannot be read. proc: where processes' roots are found.
std::string find_build_id(const std::string& path, const ModuleMentions& mentions,
                          const std::string& proc);

// The section's text: one "BUILDID PATH" line each.
std::string build_id_text(const std::vector<BufferView>& buffers, const std::string& proc);

}  // namespace pi::perfutil

#endif  // PI_PERFUTIL_BUILD_IDS_H
