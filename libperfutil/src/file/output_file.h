// SPDX-License-Identifier: MIT
// A trace file that appears under its name in one step, mode 0600, never through a link.
#ifndef PI_PERFUTIL_OUTPUT_FILE_H
#define PI_PERFUTIL_OUTPUT_FILE_H

#include <cstdint>
#include <span>
#include <string>
#include <utility>

#include <pi/new_file.h>
#include <pi/result.h>

namespace pi::perfutil {

// Until commit() the bytes are in a temporary file beside the target, which the destructor
// removes.
class OutputFile {
 public:
  // PU_ERROR_FILE when name is a symbolic link or not a regular file, or its directory refuses.
  static Result<OutputFile> create(const std::string& name);

  // Appends; 0 or an error number. size() tells how many bytes are in the file then.
  int append(std::span<const std::byte> bytes);
  // Overwrites bytes that are there; 0 or an error number.
  int overwrite(uint64_t offset, std::span<const std::byte> bytes);
  int truncate(uint64_t size);
  uint64_t size() const { return size_; }
  // Appends the whole of another file; 0 or an error number.
  int append_file(int fd);
  // As those of NewFile.
  int publish(bool keep_old) { return file_.publish(keep_old); }
  int commit() { return file_.commit(); }
  // On the disk when it returns; 0 or an error number. May run beside everything else.
  int sync() const;
  int fd() const { return file_.fd(); }

 private:
  explicit OutputFile(NewFile file) : file_(std::move(file)) {}

  NewFile file_;
  uint64_t size_ = 0;
};

}  // namespace pi::perfutil

#endif  // PI_PERFUTIL_OUTPUT_FILE_H
