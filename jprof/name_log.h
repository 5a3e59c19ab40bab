// SPDX-License-Identifier: MIT
// One of the logs of names: appends records, and reports lost ones in the log and to the user.
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
  // Records appended from now on wait for begin().
  Result<LogFile::Opened> open(const std::string& path);
  // Writes the head of the log and the waiting records. False if the records were lost; the head is
  // never lost: it precedes the first text that can be written.
  bool begin(std::string_view beginning, uint64_t time);
  // Closes the log without recording, and removes it if it is empty.
  void abandon();
  // Writes the last line. No effect if the log is not open.
  void end(std::string_view reason, uint64_t time);

  bool is_open() const { return file_.is_open(); }
  const std::string& path() const { return file_.path(); }
  // Counts an event for which no text could be made.
  void lose(int error, uint64_t time, uint64_t events = 1);
  // Appends the text of an event, with its time, or of several, with the time of one. False if it
  // was lost.
  bool append(std::string_view text, uint64_t time, uint64_t events = 1);
  uint64_t written() const { return written_; }
  uint64_t lost() const { return lost_; }

 private:
  LogFile file_;
  bool waits_ = false;       // for begin()
  std::string waiting_;      // text that was appended meanwhile
  std::string beginning_;    // as long as it is not written
  bool complained_ = false;  // the user was informed
  uint64_t written_ = 0;     // events
  uint64_t lost_ = 0;
  uint64_t unreported_ = 0;  // lost events that the log does not report yet
  uint64_t first_unreported_ = 0;
  uint64_t last_unreported_ = 0;
};

}  // namespace pi::jprof

#endif  // PI_JPROF_NAME_LOG_H
