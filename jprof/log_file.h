// SPDX-License-Identifier: MIT
// A log that is appended to, a whole record at a time, and stays readable whatever happens.
#ifndef PI_JPROF_LOG_FILE_H
#define PI_JPROF_LOG_FILE_H

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <string_view>

#include <pi/result.h>
#include <pi/unique_fd.h>

namespace pi::jprof {

// Not thread-safe. Nothing is buffered: what was appended survives the process.
class LogFile {
 public:
  enum class Opened { anew, again };

  // Makes the file anew; one that is there already, of another process that had the same id,
  // becomes PATH.old. If it is the one that this object wrote before close(), it is gone on with.
  // Fails when another process writes it.
  Result<Opened> open(const std::string& path);
  void close() { fd_.reset(); }
  void remove_if_empty() const;
  bool is_open() const { return static_cast<bool>(fd_); }
  const std::string& path() const { return path_; }

  // All or nothing: errno's number and nothing written, or 0. ENOENT: somebody has removed the
  // file, so that nobody could read what is written.
  int append(std::string_view text);

 private:
  Status move_away() const;
  int truncate_to(off_t size, int error) const;

  UniqueFd fd_;
  std::string path_;
  dev_t device_ = 0;
  ino_t inode_ = 0;
};

}  // namespace pi::jprof

#endif  // PI_JPROF_LOG_FILE_H
