// SPDX-License-Identifier: MIT
// The commands of rtdriver in a JVM with call-stack sampling: what each command does.
#include <unistd.h>

#include "heap/heap_dump.h"
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

Answer Sampler::execute_locked(JNIEnv* jni, const Command& command) {
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
    case Verb::shutdown:
      if (!has_counts_) return {true, "no more commands are accepted"};
      return stop(jni);
    case Verb::heap_dump:
    case Verb::heap_dump_live:
      return take_heap_dump(jvmti_, jni, options_, command.verb == Verb::heap_dump_live);
    case Verb::info:
      return {true, info()};
    case Verb::verbose:
      options_.verbose = true;
      return {true, "JProf reports on the JVM's stderr"};
    case Verb::log_names:
      return set_log_names(options_, logs_, command);
    default:
      return failed("'" + command.text +
                    "': this JVM samples stacks; the lock monitor needs the option JLM or JLML");
  }
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

std::string Sampler::info() const {
  std::string text = "JProf " JPROF_VERSION " in process " + std::to_string(::getpid());
  text += is_recording() ? "\nstacks: sampled"
          : has_counts_  ? "\nstacks: not sampled; samples that could not be written are kept"
                         : "\nstacks: not sampled";
  text += "\nsamples: " + description();
  text += "\nlogs written: " + std::to_string(logs_.written());
  if (logs_.written() > 0) text += "; the last: '" + logs_.last() + "'";
  return text + "\ncommands: " + server_.description();
}

}  // namespace pi::jprof
