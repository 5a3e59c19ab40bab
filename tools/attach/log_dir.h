// SPDX-License-Identifier: MIT
// A new directory below the target's /tmp, where the JVM, which has the same user, writes its logs.
#ifndef PI_ATTACH_LOG_DIR_H
#define PI_ATTACH_LOG_DIR_H

#include <string>

#include <pi/result.h>
#include <pi/unique_fd.h>

#include "owned_file.h"

namespace pi::attach {

class LogDir {
 public:
  LogDir() = default;
  // In the directory tmp, an O_PATH descriptor that outlives this object.
  static Result<LogDir> make(int tmp, uid_t owner);

  explicit operator bool() const { return static_cast<bool>(fd_); }
  int fd() const { return fd_.get(); }
  // As the JVM names it.
  std::string path() const { return "/tmp/" + name_; }
  // Copies an open file to the file NAME, which only the owner may read.
  Status copy_here(int file, const std::string& name) const;
  // Removes the library, the logs and the directory. False: the directory stays, since it contains
  // other files.
  bool remove(const std::string& library, pid_t inner_pid) const;

 private:
  int tmp_ = -1;
  std::string name_;
  UniqueFd fd_;
};

// "log-jita2n_N" and "log-jtnm_N": the kinds of logs, in the order in which they are fetched.
constexpr int log_kinds = 2;
std::string log_name(int kind, pid_t pid);

}  // namespace pi::attach

#endif  // PI_ATTACH_LOG_DIR_H
