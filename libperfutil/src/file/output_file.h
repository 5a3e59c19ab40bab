// SPDX-License-Identifier: MIT
// A trace file that gets its name in one step, with mode 0600, and never through a link.
#ifndef PI_PERFUTIL_OUTPUT_FILE_H
#define PI_PERFUTIL_OUTPUT_FILE_H

#include <cstdint>
#include <span>
#include <string>
#include <utility>

#include <pi/new_file.h>
#include <pi/result.h>

namespace pi::perfutil {

// Until commit() the bytes are in a temporary file in the same directory, which the destructor
// removes.
class OutputFile {
 public:
  // PU_ERROR_FILE when name is a symbolic link or not a regular file, or its directory refuses.
  static Result<OutputFile> create(const std::string& name);

  // Appends; 0 or an error number. Afterwards size() is the number of bytes in the file, even after
  // an error.
  int append(std::span<const std::byte> bytes);
  // The same of two pieces, in one system call if the kernel takes all: a process that is killed
  // leaves both or none.
  int append(std::span<const std::byte> head, std::span<const std::byte> data);
  // Overwrites existing bytes; 0 or an error number.
  int overwrite(uint64_t offset, std::span<const std::byte> bytes);
  int truncate(uint64_t size);
  uint64_t size() const { return size_; }
  // Appends the whole of another file; 0 or an error number.
  int append_file(int fd);
  // As those of NewFile.
  int publish(bool keep_old) { return file_.publish(keep_old); }
  int commit() { return file_.commit(); }
  // Writes the file to the disk; 0 or an error number. Other functions may run at the same time.
  int sync() const;
  int fd() const { return file_.fd(); }

 private:
  explicit OutputFile(NewFile file) : file_(std::move(file)) {}

  NewFile file_;
  uint64_t size_ = 0;
};

}  // namespace pi::perfutil

#endif  // PI_PERFUTIL_OUTPUT_FILE_H
