// SPDX-License-Identifier: MIT
// Names the build-id of every module that a trace's MTE records mention.
#ifndef PI_PERFUTIL_BUILD_IDS_H
#define PI_PERFUTIL_BUILD_IDS_H

#include <cstdint>
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

// The build-id of the file that was mapped; "-" when it has none, "?" when the file of that path
// was changed or replaced since, or cannot be read, "!" when the mapped file has not that path
// here. proc: where processes' roots are found.
std::string find_build_id(const std::string& path, const ModuleMentions& mentions,
                          const std::string& proc);

// A file whose build-id is wanted.
struct WantedFile {
  std::string path;
  ModuleMentions mentions;
};

// The file's line: "BUILDID@INODE PATH", without "@INODE" where the inode is not known. Empty for
// what no line can name.
std::string build_id_line(const WantedFile& file, const std::string& proc);
// The same when it could not be looked up.
std::string unread_build_id_line(const WantedFile& file);

// The files that a trace's records mention, each once. Files of one path with several inodes
// (containers, updates) are several files.
class BuildIdTable {
 public:
  // remembered: files that are known to have been taken, before the oldest of them are forgotten.
  explicit BuildIdTable(size_t remembered = size_t{1} << 17) : max_generation_(remembered / 2) {}

  // Records of a CPU's MTE buffer; what a CPU's calls are given must be in order. Anonymous memory
  // is left out.
  void see(uint32_t cpu, std::span<const std::byte> records);
  // Those seen since the last call.
  std::vector<WantedFile> take();

 private:
  using File = std::pair<std::string, uint64_t>;  // path and inode
  bool was_taken(const File& file) const { return taken_.contains(file) || older_.contains(file); }

  size_t max_generation_;
  std::map<uint32_t, uint32_t> time_high_;  // by CPU
  std::map<File, ModuleMentions> new_;
  // Two generations: when the newer one is full it becomes the older one, and that is forgotten.
  std::set<File> taken_, older_;
};

}  // namespace pi::perfutil

#endif  // PI_PERFUTIL_BUILD_IDS_H
