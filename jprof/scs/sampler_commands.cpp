// SPDX-License-Identifier: MIT
// The commands of rtdriver in a JVM with call-stack sampling: what each command does.
#include "scs/sampler.h"

namespace pi::jprof {
namespace {

constexpr const char* nothing_sampled = "nothing is sampled; START begins";

}  // namespace

Answer Sampler::execute(JNIEnv* jni, const Command& command) {
  Answer answer;
  {
    const std::lock_guard lock(control_);
    if (ended_) return failed("the JVM ends");
    answer = execute_locked(jni, command);
  }
  // Without the lock, for which the end of the JVM waits.
  if (occurrences_ && command.verb == Verb::start && answer.done) occurrences_->begin(jvmti_);
  return answer;
}

Answer Sampler::answer(JNIEnv* jni, const Command& command) {
  switch (command.verb) {
    case Verb::start:
      if (is_recording()) return {true, "stacks are sampled already"};
      if (const auto started = begin(jni); !started) return failed(started.error().message);
      return {true, "stacks are sampled"};
    case Verb::stop:
      return has_counts_ ? stop(jni) : failed(nothing_sampled);
    case Verb::flush:
      if (!has_counts_) return failed(nothing_sampled);
      if (const auto written = write_logs(jni); !written) return failed(written.error().message);
      return {true, "written: '" + logs_.last() + "'"};
    case Verb::reset:
      if (!has_counts_) return failed(nothing_sampled);
      clear();
      has_counts_ = is_recording();
      return {true, "all counts are 0"};
    default:
      return failed("'" + command.text +
                    "': this JVM samples stacks; the lock monitor needs the option JLM or JLML");
  }
}

std::optional<Answer> Sampler::finish(JNIEnv* jni) {
  if (!has_counts_) return std::nullopt;
  return stop(jni);
}

Answer Sampler::set_log_names(const Command& command) {
  return jprof::set_log_names(options_, logs_, command);
}

// Samples that cannot be written are kept, so that FLUSH can be tried again with another LOGPATH.
Answer Sampler::stop(JNIEnv* jni) {
  end();
  if (const auto written = write_logs(jni); !written)
    return failed(written.error().message +
                  ". The recording has ended, and its samples are kept: use FLUSH again, after "
                  "LOGPATH=DIR or when the problem is solved");
  clear();
  has_counts_ = false;
  report("the recording has ended; log: '" + logs_.last() + "'");
  return {true, "written: '" + logs_.last() + "'"};
}

std::string Sampler::state() const {
  std::string text = is_recording() ? "\nstacks: sampled"
                     : has_counts_
                         ? "\nstacks: not sampled; samples that could not be written are kept"
                         : "\nstacks: not sampled";
  text += "\nsamples: " + description();
  return text + logs_text(logs_.written(), logs_.last());
}

}  // namespace pi::jprof
