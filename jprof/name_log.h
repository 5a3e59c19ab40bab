// SPDX-License-Identifier: MIT
// One of the logs of names: appends records, and tells, there and to the user, which ones are lost.
#ifndef PI_JPROF_NAME_LOG_H
#define PI_JPROF_NAME_LOG_H

#include <cstdint>
#include <string>
#include <string_view>

#include "log_file.h"

namespace pi::jprof {

// Not thread-safe.
class NameLog {
 public:
  // What is appended from now on waits for begin().
  Result<LogFile::Opened> open(const std::string& path);
  // Writes the beginning and what waits. False if that was lost; the beginning is not: it comes
  // before whatever is written first.
  bool begin(std::string_view beginning, uint64_t time);
  // Nothing is recorded after all.
  void abandon();
  // The last line. No effect if it is not open.
  void end(std::string_view reason, uint64_t time);

  bool is_open() const { return file_.is_open(); }
  const std::string& path() const { return file_.path(); }
  // An event could not even be put into text.
  void lose(int error, uint64_t time);
  // Text of one event, with its time. False if it was lost.
  bool append(std::string_view text, uint64_t time);
  uint64_t written() const { return written_; }
  uint64_t lost() const { return lost_; }

 private:
  LogFile file_;
  bool waits_ = false;       // for begin()
  std::string waiting_;      // what is told meanwhile
  std::string beginning_;    // as long as it is not written
  bool complained_ = false;  // to the user
  uint64_t written_ = 0;     // events
  uint64_t lost_ = 0;
  uint64_t unreported_ = 0;  // of those lost: not yet told of in the log
  uint64_t first_unreported_ = 0;
  uint64_t last_unreported_ = 0;
};

}  // namespace pi::jprof

#endif  // PI_JPROF_NAME_LOG_H
