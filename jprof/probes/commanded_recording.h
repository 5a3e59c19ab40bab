// SPDX-License-Identifier: MIT
// A recording in a JVM that commands of rtdriver control: what all of them answer alike.
#ifndef PI_JPROF_COMMANDED_RECORDING_H
#define PI_JPROF_COMMANDED_RECORDING_H

#include <jvmti.h>

#include <mutex>
#include <optional>
#include <string>

#include "options.h"
#include "probes/command_server.h"

namespace pi::jprof {

class CommandedRecording {
 public:
  CommandedRecording(const CommandedRecording&) = delete;
  CommandedRecording& operator=(const CommandedRecording&) = delete;

 protected:
  CommandedRecording() = default;
  ~CommandedRecording() = default;

  // With control_ locked: HD, HDF, JPROFINFO, VERBOSE, SHUTDOWN and names of logs; others are
  // passed to answer().
  Answer execute_locked(JNIEnv* jni, const Command& command);

  // "\nlogs written: 2; the last: 'log-rt.2'".
  static std::string logs_text(unsigned written, const std::string& last);

  jvmtiEnv* jvmti_ = nullptr;
  CommandServer server_;
  // Of starting, stopping and writing, by events and commands. Protects what follows, and the
  // recording's own members.
  std::mutex control_;
  Options options_;

 private:
  // The recording's own commands, and the refusal of others.
  virtual Answer answer(JNIEnv* jni, const Command& command) = 0;
  // Ends the recording, and writes it. Nothing: there is nothing to write.
  virtual std::optional<Answer> finish(JNIEnv* jni) = 0;
  virtual Answer set_log_names(const Command& command) = 0;
  // Lines for JPROFINFO, each with a line feed before it.
  virtual std::string state() const = 0;
};

}  // namespace pi::jprof

#endif  // PI_JPROF_COMMANDED_RECORDING_H
