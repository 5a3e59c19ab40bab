// SPDX-License-Identifier: MIT
// JLM and JLML in one JVM: from the options to log-jlm.
#ifndef PI_JPROF_LOCK_MONITOR_H
#define PI_JPROF_LOCK_MONITOR_H

#include <jvmti.h>

#include <atomic>
#include <cstdint>
#include <mutex>
#include <optional>
#include <span>
#include <string>

#include <pi/result.h>

#include "locks/contended_gets.h"
#include "locks/java_locks.h"
#include "log_file.h"
#include "options.h"
#include "probes/class_probes.h"
#include "probes/commanded_recording.h"
#include "probes/method_list.h"

namespace pi::jprof {

class LockMonitor final : private CommandedRecording {
 public:
  // That of this process. Never destroyed, since events may come until the process ends.
  static LockMonitor& get();

  // Before the JVM has initialised.
  Status start(JavaVM* vm, const Options& options);

  // Events, from any thread. They do not throw.
  void on_vm_init(JNIEnv* jni) noexcept;
  void on_vm_death(JNIEnv* jni) noexcept;
  void on_class_file(JNIEnv* jni, jclass redefined, jobject loader, const char* name,
                     std::span<const unsigned char> code, jint* new_size,
                     unsigned char** new_code) noexcept;
  void on_contended_entered(JNIEnv* jni, jobject object) noexcept;
  // In a pause of the JVM, in which nothing of it may be called.
  void on_gc_start() noexcept;
  void on_gc_finish() noexcept;

 private:
  bool enable(jvmtiEvent event);
  Status prepare(JNIEnv* jni);
  void begin(JNIEnv* jni, Locks kind);
  Status open_log();
  Status write_log(JNIEnv* jni);
  std::string heading() const;
  // The commands (lock_commands.cpp).
  Answer execute(JNIEnv* jni, const Command& command);
  Answer answer(JNIEnv* jni, const Command& command) override;
  std::optional<Answer> finish(JNIEnv* jni) override;
  Answer set_log_names(const Command& command) override;
  std::string state() const override;
  Answer dump(JNIEnv* jni);

  MethodList methods_;
  ClassProbes class_probes_;
  JavaLocks locks_;
  ContendedGets contended_;
  std::atomic<int64_t> gc_time_ = 0;  // nanoseconds; read by the probes
  int64_t gc_began_ = 0;
  std::atomic<bool> ready_ = false;  // the probes can be called
  std::atomic<bool> counting_ = false;
  // Protected by control_.
  Locks kind_ = Locks::none;  // of the last start
  bool has_counts_ = false;   // that were not written since counting began or ended
  bool ended_ = false;        // the JVM ends
  LogFile log_;               // the next one, open so that errors are seen early
  unsigned written_ = 0;
  std::string last_;
};

}  // namespace pi::jprof

#endif  // PI_JPROF_LOCK_MONITOR_H
