// SPDX-License-Identifier: MIT
// The numbered logs of call flow: log-rt.N and log-unrecorded.N, a new N for each time that they
// are written.
#ifndef PI_JPROF_CALL_LOGS_H
#define PI_JPROF_CALL_LOGS_H

#include <string>

#include <pi/result.h>

#include "log_file.h"
#include "options.h"

namespace pi::jprof {

// Appends text and closes the log.
Status append_and_close(LogFile& log, const std::string& text);
// Creates a file; an old one is renamed to PATH.old.
Status write_file(const std::string& path, const std::string& text);

// Not thread-safe.
class CallLogs {
 public:
  // Opens the next logs, unless they are open with these names already.
  Status open(const Options& options);
  // The next log-rt was written: its number is used.
  void count() { last_ = tree_.path(), ++written_; }
  // Removes the open logs, which are empty.
  void discard();

  LogFile& tree() { return tree_; }
  LogFile& unrecorded() { return unrecorded_; }
  unsigned written() const { return written_; }
  const std::string& last() const { return last_; }  // the last log-rt that was written

 private:
  Status open(LogFile& log, const Options& options, const char* kind);

  LogFile tree_, unrecorded_;
  unsigned written_ = 0;
  std::string last_;
};

}  // namespace pi::jprof

#endif  // PI_JPROF_CALL_LOGS_H
