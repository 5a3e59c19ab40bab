// SPDX-License-Identifier: MIT
// The commands of rtdriver in a JVM with the lock monitor: what each command does.
#include <unistd.h>

#include <utility>

#include "heap/heap_dump.h"
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

Answer LockMonitor::execute_locked(JNIEnv* jni, const Command& command) {
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
    case Verb::shutdown:
      if (!counting_) return {true, "no more commands are accepted"};
      counting_ = false;
      locks_.stop(jni);
      return dump(jni);
    case Verb::heap_dump:
    case Verb::heap_dump_live:
      return take_heap_dump(jvmti_, jni, options_, command.verb == Verb::heap_dump_live);
    case Verb::info:
      return {true, info()};
    case Verb::verbose:
      options_.verbose = true;
      return {true, "JProf reports on the JVM's stderr"};
    case Verb::log_names:
      return set_log_names(command);
    default:
      return failed(
          "'" + command.text +
          "': this JVM counts monitors; its commands are JLMSTART, JLMSTARTLITE, JLMSTOP, "
          "JLMDUMP and JLMRESET");
  }
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

std::string LockMonitor::info() const {
  std::string text = "JProf " JPROF_VERSION " in process " + std::to_string(::getpid()) +
                     "\nmonitors: " + (counting_ ? "counted" : "not counted");
  if (counting_) text += kind_ == Locks::counts ? ", without hold times" : ", with hold times";
  text += "\nlogs written: " + std::to_string(written_);
  if (written_ > 0) text += "; the last: '" + last_ + "'";
  return text + "\ncommands: " + server_.description();
}

}  // namespace pi::jprof
