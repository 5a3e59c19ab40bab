// SPDX-License-Identifier: MIT
// One of the logs of names: appends records, and reports lost ones in the log and to the user.
#include "name_log.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "log_text.h"
#include "messages.h"

namespace pi::jprof {

Result<LogFile::Opened> NameLog::open(const std::string& path) {
  written_ = lost_ = unreported_ = 0;
  waiting_.clear();
  beginning_.clear();
  waits_ = true;
  complained_ = false;
  return file_.open(path);
}

bool NameLog::begin(std::string_view beginning, uint64_t time) {
  waits_ = false;
  beginning_ = beginning;
  const uint64_t events = std::exchange(written_, 0);
  if (append(std::exchange(waiting_, {}), time)) {
    written_ = events;
    return true;
  }
  lost_ = unreported_ = events;
  return events == 0;
}

// The first loss is reported to the user; all are reported in the log when it can be written again.
void NameLog::lose(int error, uint64_t time, uint64_t events) {
  lost_ += events;
  if (unreported_ == 0) first_unreported_ = last_unreported_ = time;
  unreported_ += events;
  if (!std::exchange(complained_, true))
    say(error == ENOENT
            ? "'" + path() + "' was removed: names from now on are lost. The JVM continues"
            : "'" + path() + "' cannot be written (" + std::strerror(error) +
                  "): names are lost until it can be written again. The JVM continues");
  first_unreported_ = std::min(first_unreported_, time);
  last_unreported_ = std::max(last_unreported_, time);
}

bool NameLog::append(std::string_view text, uint64_t time, uint64_t events) {
  if (waits_) {
    waiting_ += text;
    written_ += events;
    return true;
  }
  std::string before = beginning_;
  if (unreported_ != 0) append_lost(before, unreported_, first_unreported_, last_unreported_);
  const int error = before.empty() ? file_.append(text) : file_.append(before.append(text));
  if (error != 0) {
    lose(error, time, events);
    return false;
  }
  beginning_.clear();
  unreported_ = 0;
  written_ += events;
  return true;
}

void NameLog::abandon() {
  file_.remove_if_empty();
  file_.close();
}

void NameLog::end(std::string_view reason, uint64_t time) {
  if (!is_open()) return;
  std::string text;
  append_end(text, time, reason);
  const uint64_t written = written_, lost = lost_;
  if (append(text, time))
    written_ = written;
  else
    lost_ = lost;
  file_.close();
}

}  // namespace pi::jprof
