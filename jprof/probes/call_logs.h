// SPDX-License-Identifier: MIT
// The numbered logs of call flow and of call-stack sampling: log-rt.N, log-gen.N and
// log-unrecorded.N, a new N for each time that they are written.
#ifndef PI_JPROF_CALL_LOGS_H
#define PI_JPROF_CALL_LOGS_H

#include <functional>
#include <string>

#include <pi/result.h>
#include <report.h>

#include "log_file.h"
#include "options.h"

namespace pi::jprof {

// Writes a report to a log that is empty, by passing its parts to the sink; returns the sink's
// error number.
using Format = std::function<int(const pi::callflow::Sink& sink)>;

// Writes the report and closes the log. If that fails the log is empty, so that it can be tried
// again.
Status write_and_close(LogFile& log, const Format& format);
// Creates a file; an old one is renamed to PATH.old.
Status write_file(const std::string& path, const Format& format,
                  LogFile::ChosenBy options = LogFile::by_log_options);

// The first lines of a log: this JVM, its process and the time. source: of the events, after a
// comma; or empty.
std::string log_heading(const std::string& jvm, const std::string& source);

// Not thread-safe.
class CallLogs {
 public:
  // Opens the next logs, unless they are open with these names already.
  Status open(const Options& options);
  // The next log-rt or log-gen was written: its number is used.
  void count() { last_ = next(), ++written_; }
  // Removes the open logs, which are empty.
  void discard();

  LogFile& tree() { return tree_; }
  LogFile& events() { return events_; }
  LogFile& unrecorded() { return unrecorded_; }
  unsigned written() const { return written_; }
  // Paths of the next log-rt, or log-gen if only that is written, and of the last one written.
  const std::string& next() const { return tree_.path().empty() ? events_.path() : tree_.path(); }
  const std::string& last() const { return last_; }

 private:
  Status open(LogFile& log, const Options& options, const char* kind);

  LogFile tree_, events_, unrecorded_;
  unsigned written_ = 0;
  std::string last_;
};

}  // namespace pi::jprof

#endif  // PI_JPROF_CALL_LOGS_H
