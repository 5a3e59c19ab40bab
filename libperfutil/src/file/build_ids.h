// SPDX-License-Identifier: MIT
// Finds the build-id of every module that the MTE records of a trace mention.
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

// Where a process had mapped the code of a file.
struct MappedPlace {
  uint32_t pid;
  uint64_t start, end;
};

// How a trace's records mention one file.
struct ModuleMentions {
  uint64_t first_time = 0;          // of the earliest mapping, trace clock
  uint64_t inode = 0;               // 0: not known
  std::vector<MappedPlace> places;  // some of the first and of the newest mappings
  size_t mapped = 0;                // number of mappings
};

// The build-id of the file that was mapped; "-" when it has none, "?" when the file of that path
// was changed or replaced since, or cannot be read, "!" when the mapped file does not have that
// path here. proc: path of /proc.
std::string find_build_id(const std::string& path, const ModuleMentions& mentions,
                          const std::string& proc);

// A file whose build-id is wanted.
struct WantedFile {
  std::string path;
  ModuleMentions mentions;
};

// A path as lines have it: a zero byte, which no path has, stands for a line feed.
std::string path_in_line(std::string path);
// The file's line: "BUILDID@INODE PATH", without "@INODE" when the inode is unknown. Empty for
// [vsyscall].
std::string build_id_line(const WantedFile& file, const std::string& proc);
// The line of a file that could not be read.
std::string unread_build_id_line(const WantedFile& file);

// The files in the records of a trace, each once. Files with one path and several inodes
// (containers, updates) are several files.
class BuildIdTable {
 public:
  // remembered: maximum of taken files that are remembered; the oldest are dropped.
  explicit BuildIdTable(size_t remembered = size_t{1} << 17) : max_generation_(remembered / 2) {}

  // Adds the files in records of a CPU's MTE buffer; the records of each CPU must be in order.
  // Anonymous memory is left out.
  void see(uint32_t cpu, std::span<const std::byte> records);
  // The files found since the last call.
  std::vector<WantedFile> take();

 private:
  using File = std::pair<std::string, uint64_t>;  // path and inode
  bool was_taken(const File& file) const { return taken_.contains(file) || older_.contains(file); }

  size_t max_generation_;
  std::map<uint32_t, uint32_t> time_high_;  // by CPU
  std::map<File, ModuleMentions> new_;
  // Two generations: when the newer one is full, it replaces the older one.
  std::set<File> taken_, older_;
};

}  // namespace pi::perfutil

#endif  // PI_PERFUTIL_BUILD_IDS_H
