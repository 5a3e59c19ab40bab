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

// The contents of a source file; every byte is untrusted.
class SourceText {
 public:
  // Empty if the file does not exist or cannot be used.
  SourceText() = default;
  SourceText(std::string path, std::string text, int64_t modified_ns);

  bool found() const { return !path_.empty(); }
  const std::string& path() const { return path_; }
  int64_t modified_ns() const { return modified_ns_; }  // since 1970
  size_t lines() const { return starts_.size(); }
  // Returns line `number`, counted from 1, without its line feed; "" after the last one.
  std::string_view line(size_t number) const;

 private:
  std::string path_;
  std::string text_;
  int64_t modified_ns_ = 0;
  std::vector<uint32_t> starts_;  // offsets of the lines
};

// Names come from files that another user may have written: only regular files are opened, each
// once, and budgets.h limits how much is read.
class SourceFiles {
 public:
  // In each directory, in this order, find() tries every tail of a file's path.
  explicit SourceFiles(std::vector<std::string> directories);

  // To whom the program belongs that names a path in its debug information.
  enum class Program { of_root, of_others };

  // Returns the file at the path if the path is absolute; for the super-user only if every user
  // may read it, and, for a program of others, search its directories. Otherwise returns the file
  // with the longest tail of the path below a directory; links that lead out of it are not
  // followed. The result is valid as long as this object.
  const SourceText& find(const std::string& path, Program program);
  // Returns a sentence on why find() returned an empty text; "" if the text is not empty.
  std::string problem(const std::string& path, Program program) const;

 private:
  struct Known {
    SourceText text;
    std::string refused;  // why an existing file is not used
  };
  bool read(const std::string& path, Program program, Known& known);
  bool read_below(const std::string& directory, const std::string& tail, Known& known);
  void take(const pi::RegularFile& file, const std::string& path, Known& known);

  const std::vector<std::string> directories_;
  std::map<std::pair<std::string, Program>, Known> known_;  // by the requested path
  size_t bytes_ = 0;                                        // that were read
};

// Returns the path's tails, the longest first: for "/a/../b/c.h" these are "b/c.h" and "c.h".
std::vector<std::string> path_tails(std::string_view path);

}  // namespace post

#endif  // POST_SOURCE_FILES_H
