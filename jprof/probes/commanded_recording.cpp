// SPDX-License-Identifier: MIT
// A recording in a JVM that commands of rtdriver control: what all of them answer alike.
#include "probes/commanded_recording.h"

#include <unistd.h>

#include "heap/heap_dump.h"

namespace pi::jprof {

Answer CommandedRecording::execute_locked(JNIEnv* jni, const Command& command) {
  switch (command.verb) {
    case Verb::heap_dump:
    case Verb::heap_dump_live:
      return take_heap_dump(jvmti_, jni, options_, command.verb == Verb::heap_dump_live);
    case Verb::info:
      return {true, "JProf " JPROF_VERSION " in process " + std::to_string(::getpid()) + state() +
                        "\ncommands: " + server_.description()};
    case Verb::verbose:
      options_.verbose = true;
      return {true, "JProf reports on the JVM's stderr"};
    case Verb::log_names:
      return set_log_names(command);
    case Verb::shutdown:
      return finish(jni).value_or(Answer{true, "no more commands are accepted"});
    default:
      return answer(jni, command);
  }
}

std::string CommandedRecording::logs_text(unsigned written, const std::string& last) {
  std::string text = "\nlogs written: " + std::to_string(written);
  if (written > 0) text += "; the last: '" + last + "'";
  return text;
}

}  // namespace pi::jprof
