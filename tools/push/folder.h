// SPDX-License-Identifier: MIT
// The folder of files that wait to be sent.
#ifndef PUSH_FOLDER_H
#define PUSH_FOLDER_H

#include <pi/result.h>
#include <pi/unique_fd.h>

#include <cstdint>
#include <string>
#include <vector>

namespace push {

class Folder {
 public:
  struct File {
    std::string name;
    uint64_t bytes = 0;
  };

  // The folder must belong to this user, and no other one may write to it. Only one process at a
  // time has it open. suffix: of the files' names.
  static pi::Result<Folder> open(const std::string& path, std::string suffix);

  // By name, which is by age where names begin with the time.
  pi::Result<std::vector<File>> files() const;
  pi::Result<std::string> read(const std::string& name) const;
  // Returns 0 or an error number; a file that is gone is no error.
  int remove(const std::string& name) const;

 private:
  Folder(pi::UniqueFd directory, std::string suffix)
      : directory_(std::move(directory)), suffix_(std::move(suffix)) {}
  pi::UniqueFd directory_;
  std::string suffix_;
};

// The first files, which are above the limit of all bytes together.
size_t count_above(const std::vector<Folder::File>& files, uint64_t limit);

// A file of the user that no other one can change, as whole; secret: nor read.
pi::Result<std::string> read_own(const std::string& path, bool secret);
// "NAME: VALUE" lines of HTTP; empty lines and those that begin with # are left out.
pi::Result<std::vector<std::string>> headers_in(const std::string& text);

}  // namespace push

#endif  // PUSH_FOLDER_H
