// SPDX-License-Identifier: MIT
// The commands of rtdriver in a JVM that records calls: what each command does.
#include "probes/call_flow.h"
#include "probes/object_info.h"

namespace pi::jprof {
namespace {

namespace callflow = pi::callflow;

constexpr const char* nothing_recorded = "nothing is recorded; START begins a recording";

}  // namespace

bool CallFlow::writes_logs(Verb verb) {
  return verb == Verb::flush || verb == Verb::stop || verb == Verb::shutdown;
}

// Garbage is collected without the lock, for which the end of the JVM waits: see LiveObjects.
Answer CallFlow::execute(JNIEnv* jni, const Command& command) {
  if (live_ && writes_logs(command.verb)) (void)jvmti_->ForceGarbageCollection();
  Answer answer;
  bool begins = false;
  {
    const std::lock_guard lock(control_);
    if (ended_) return failed("the JVM ends");
    answer = execute_locked(jni, command);
    begins = options_.object_info && command.verb == Verb::start && answer.done;
  }
  if (begins) ObjectInfo::begin(jvmti_);
  return answer;
}

Answer CallFlow::answer(JNIEnv* jni, const Command& command) {
  switch (command.verb) {
    case Verb::start:
      if (callflow::is_recording()) return {true, "calls are recorded already"};
      if (const auto started = start_recording(); !started) return failed(started.error().message);
      return {true, "calls are recorded"};
    case Verb::stop:
      return has_counts_ ? stop(jni) : failed(nothing_recorded);
    case Verb::flush:
      if (!has_counts_) return failed(nothing_recorded);
      if (has_all_events()) return failed("log-gen is written when the recording ends; use STOP");
      if (const auto written = write_logs(jni); !written) return failed(written.error().message);
      return {true, "written: '" + logs_.last() + "'"};
    case Verb::reset:
      if (!has_counts_) return failed(nothing_recorded);
      if (has_all_events())
        return failed(
            "log-gen has all events since the start of the recording; use STOP and START");
      forget_counts();
      has_counts_ = callflow::is_recording();
      return {true, "all counts are 0"};
    default:
      return failed("'" + command.text +
                    "': this JVM records calls; the lock monitor needs the option JLM or JLML");
  }
}

std::optional<Answer> CallFlow::finish(JNIEnv* jni) {
  if (!has_counts_) return std::nullopt;
  return stop(jni);
}

Answer CallFlow::set_log_names(const Command& command) {
  return jprof::set_log_names(options_, logs_, command);
}

// While log-gen is recorded, its file cannot be written or emptied.
bool CallFlow::has_all_events() const {
  return options_.call_trace && callflow::is_recording();
}

// Counts that cannot be written are kept, so that FLUSH can be tried again with another LOGPATH.
Answer CallFlow::stop(JNIEnv* jni) {
  end_recording();
  if (const auto written = write_logs(jni); !written)
    return failed(written.error().message +
                  ". The recording has ended, and its counts are kept: use FLUSH again, after "
                  "LOGPATH=DIR or when the problem is solved");
  forget_counts();
  has_counts_ = false;
  report("the recording has ended; log: '" + logs_.last() + "'");
  return {true, "written: '" + logs_.last() + "'"};
}

void CallFlow::forget_counts() {
  callflow::reset();
  if (live_) live_objects_.forget(jvmti_);
}

std::string CallFlow::state() const {
  std::string text = callflow::is_recording() ? "\ncalls: recorded"
                     : has_counts_
                         ? "\ncalls: not recorded; counts that could not be written are kept"
                         : "\ncalls: not recorded";
  text += "\nmetrics:";
  for (const auto& metric : settings_.meter.metrics) text += " " + metric.name;
  if (settings_.meter.metrics.empty())
    text += " none";
  else
    text += calibration_.on ? ", calibrated" : ", not calibrated";
  return text + logs_text(logs_.written(), logs_.last());
}

}  // namespace pi::jprof
