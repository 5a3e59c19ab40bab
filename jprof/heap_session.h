// SPDX-License-Identifier: MIT
// The option HD in one JVM: a heap dump when the JVM ends, or at once when JProf attaches, and
// commands.
#ifndef PI_JPROF_HEAP_SESSION_H
#define PI_JPROF_HEAP_SESSION_H

#include <jvmti.h>

#include <optional>
#include <string>

#include <pi/result.h>

#include "options.h"
#include "probes/commanded_recording.h"

namespace pi::jprof {

class HeapSession final : private CommandedRecording {
 public:
  // That of this process. Never destroyed, since events may come until the process ends.
  static HeapSession& get();

  // Before the JVM has initialised.
  Status start(JavaVM* vm, const Options& options);
  // In a JVM that runs: one dump, from a thread of the JVM.
  static Status dump_now(JavaVM* vm, const Options& options);

  // Events. They do not throw.
  void on_vm_init(JNIEnv* jni) noexcept;
  void on_vm_death(JNIEnv* jni) noexcept;

 private:
  Answer execute(JNIEnv* jni, const Command& command);
  Answer answer(JNIEnv* jni, const Command& command) override;
  std::optional<Answer> finish(JNIEnv*) override { return std::nullopt; }
  Answer set_log_names(const Command& command) override;
  std::string state() const override;

  bool ended_ = false;  // protected by control_
};

}  // namespace pi::jprof

#endif  // PI_JPROF_HEAP_SESSION_H
