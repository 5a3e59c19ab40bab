// SPDX-License-Identifier: MIT
// A file that appears under its name in one step, mode 0600, never through a link.
#ifndef PI_PERFUTIL_OUTPUT_FILE_H
#define PI_PERFUTIL_OUTPUT_FILE_H

#include <cstdint>
#include <span>
#include <string>

#include <pi/result.h>
#include <pi/unique_fd.h>

namespace pi::perfutil {

// Until commit() the bytes are in a temporary file beside the target, which the destructor
// removes.
class OutputFile {
 public:
  // PU_ERROR_FILE when name is a symbolic link or not a regular file, or its directory refuses.
  static Result<OutputFile> create(const std::string& name);
  OutputFile(OutputFile&&) = default;
  OutputFile& operator=(OutputFile&&) = delete;
  ~OutputFile();

  // Appends; 0 or an error number. size() tells how many bytes are in the file then.
  int append(std::span<const std::byte> bytes);
  // Overwrites bytes that are there; 0 or an error number.
  int overwrite(uint64_t offset, std::span<const std::byte> bytes);
  int truncate(uint64_t size);
  uint64_t size() const { return size_; }
  // Appends the whole of another file; 0 or an error number.
  int append_file(int fd);
  // Gives the file its name now, while it goes on being written. keep_old: a file of that name
  // becomes NAME.old. 0 or an error number.
  int publish(bool keep_old);
  // On the disk when it returns; 0 or an error number. May run beside everything else.
  int sync() const;
  int fd() const { return fd_.get(); }
  // Closes the file and gives it its name; 0 or an error number, the old file then stays.
  int commit();

 private:
  OutputFile(UniqueFd directory, UniqueFd fd, std::string target, std::string temporary)
      : directory_(std::move(directory)),
        fd_(std::move(fd)),
        target_(std::move(target)),
        temporary_(std::move(temporary)) {}

  UniqueFd directory_;
  UniqueFd fd_;
  std::string target_;     // within the directory
  std::string temporary_;  // within the directory
  uint64_t size_ = 0;
};

}  // namespace pi::perfutil

#endif  // PI_PERFUTIL_OUTPUT_FILE_H
