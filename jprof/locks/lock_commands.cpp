// SPDX-License-Identifier: MIT
// The commands of rtdriver in a JVM with the lock monitor: what each command does.
#include <utility>

#include "locks/lock_monitor.h"

namespace pi::jprof {
namespace {

constexpr const char* nothing_counted = "nothing is counted; JLMSTART or JLMSTARTLITE begins";

}  // namespace

Answer LockMonitor::execute(JNIEnv* jni, const Command& command) {
  const std::lock_guard lock(control_);
  const JavaLocks::Ignored ignored(locks_, jni);
  return ended_ ? failed("the JVM ends") : execute_locked(jni, command);
}

Answer LockMonitor::answer(JNIEnv* jni, const Command& command) {
  switch (command.verb) {
    case Verb::lock_start:
    case Verb::lock_start_lite: {
      const Locks kind = command.verb == Verb::lock_start ? Locks::counts_and_times : Locks::counts;
      if (counting_ && kind == kind_) return {true, "monitors are counted already"};
      begin(jni, kind);
      return {true, std::string("monitors are counted, ") +
                        (kind == Locks::counts ? "without" : "with") + " hold times"};
    }
    case Verb::lock_stop:
      if (!counting_) return failed(nothing_counted);
      counting_ = false;
      locks_.stop(jni);
      has_counts_ = true;
      return {true, "monitors are counted no more; JLMDUMP writes the report"};
    case Verb::lock_dump:
      return kind_ == Locks::none ? failed(nothing_counted) : dump(jni);
    case Verb::lock_reset:
      if (kind_ == Locks::none) return failed(nothing_counted);
      locks_.reset(jni);
      contended_.reset();
      has_counts_ = counting_;
      return {true, "all counts of monitors are 0"};
    default:
      return failed(
          "'" + command.text +
          "': this JVM counts monitors; its commands are JLMSTART, JLMSTARTLITE, JLMSTOP, "
          "JLMDUMP and JLMRESET");
  }
}

std::optional<Answer> LockMonitor::finish(JNIEnv* jni) {
  if (!counting_) return std::nullopt;
  counting_ = false;
  locks_.stop(jni);
  return dump(jni);
}

Answer LockMonitor::dump(JNIEnv* jni) {
  if (const auto written = write_log(jni); !written) return failed(written.error().message);
  has_counts_ = counting_;
  return {true, "written: '" + last_ + "'"};
}

Answer LockMonitor::set_log_names(const Command& command) {
  auto options = with_log_names(options_, command);
  if (!options) return failed(options.error().message);
  std::swap(options_, *options);
  if (const auto opened = open_log(); !opened) {
    options_ = std::move(*options);
    (void)open_log();
    return failed(opened.error().message);
  }
  return {true, "the next log: '" + log_.path() + "'"};
}

std::string LockMonitor::state() const {
  std::string text = counting_ ? "\nmonitors: counted" : "\nmonitors: not counted";
  if (counting_) text += kind_ == Locks::counts ? ", without hold times" : ", with hold times";
  return text + logs_text(written_, last_);
}

}  // namespace pi::jprof
