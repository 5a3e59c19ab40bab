// SPDX-License-Identifier: MIT
// Names the build-id of every module that a trace's MTE records mention.
#ifndef PI_PERFUTIL_BUILD_IDS_H
#define PI_PERFUTIL_BUILD_IDS_H

#include <map>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace pi::perfutil {

// Where a process had a file's code mapped.
struct MappedPlace {
  uint32_t pid;
  uint64_t start, end;
};

// How a trace's records mention one file.
struct ModuleMentions {
  uint64_t first_time = 0;          // of the earliest mapping, trace clock
  uint64_t inode = 0;               // 0: not known
  std::vector<MappedPlace> places;  // some: of the first mappings and of the newest
  size_t mapped = 0;                // how often
};

// The build-id of the file that was mapped; "-" when it has none, "?" when the file of that path is
// another one now, was changed since, or cannot be read. proc: where processes' roots are found.
std::string find_build_id(const std::string& path, const ModuleMentions& mentions,
                          const std::string& proc);

// The files that a trace's records mention, each looked up once: while the trace runs, the
// processes that mapped it may still be there to lead to it. Files of one path with several inodes
// (containers, updates) are several files.
class BuildIdTable {
 public:
  explicit BuildIdTable(std::string proc) : proc_(std::move(proc)) {}

  // Records of a CPU's MTE buffer; what a CPU's calls are given must be in order. Anonymous memory
  // is left out.
  void see(uint32_t cpu, std::span<const std::byte> records);
  // A line for each file seen since the last call: "BUILDID@INODE PATH", without "@INODE" where the
  // inode is not known.
  std::string take_lines();

 private:
  using File = std::pair<std::string, uint64_t>;  // path and inode
  std::string proc_;
  std::map<uint32_t, uint32_t> time_high_;  // by CPU
  std::map<File, ModuleMentions> new_;
  std::set<File> told_;
};

}  // namespace pi::perfutil

#endif  // PI_PERFUTIL_BUILD_IDS_H
