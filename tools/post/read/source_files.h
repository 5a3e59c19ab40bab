// SPDX-License-Identifier: MIT
// Finds and reads the source files that debug information names.
#ifndef POST_SOURCE_FILES_H
#define POST_SOURCE_FILES_H

#include <pi/files.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace post {

// A source file as it is on the disk; every byte is untrusted.
class SourceText {
 public:
  // Empty, where there is no such file or it cannot be used.
  SourceText() = default;
  SourceText(std::string path, std::string text, int64_t modified_ns);

  bool found() const { return !path_.empty(); }
  const std::string& path() const { return path_; }
  int64_t modified_ns() const { return modified_ns_; }  // since 1970
  size_t lines() const { return starts_.size(); }
  // The line of a number from 1, without its end; "" behind the last one.
  std::string_view line(size_t number) const;

 private:
  std::string path_;
  std::string text_;
  int64_t modified_ns_ = 0;
  std::vector<uint32_t> starts_;  // offsets of the lines
};

// Names come from files that another user may have written: only regular files are opened, each
// once, and only so much is read as budgets.h allows.
class SourceFiles {
 public:
  // Below the directories, which are tried in this order, files may have any place that is a tail
  // of their path.
  explicit SourceFiles(std::vector<std::string> directories);

  // The file at the path if it is absolute (for the super-user only if its mode lets every user
  // read it, as the path comes from the program), else the one with the longest tail of the path
  // below a directory. Valid as long as this.
  const SourceText& find(const std::string& path);
  // Why find() returned an empty text: a sentence. Empty: it did not.
  std::string problem(const std::string& path) const;

 private:
  struct Known {
    SourceText text;
    std::string refused;  // why a file that is there is not used
  };
  enum class PathFrom { debug_information, user };
  bool read(const std::string& path, PathFrom from, Known& known);

  const std::vector<std::string> directories_;
  std::map<std::string, Known> known_;  // by the path that was asked for
  size_t bytes_ = 0;                    // that were read
};

// The path's tails, the longest first: of "/a/../b/c.h" "b/c.h" and "c.h".
std::vector<std::string> path_tails(std::string_view path);

}  // namespace post

#endif  // POST_SOURCE_FILES_H
