// SPDX-License-Identifier: MIT
// CALLTREE, CALLFLOW and CALLTRACE in one JVM: from the options to log-rt and log-gen.
#ifndef PI_JPROF_CALL_FLOW_H
#define PI_JPROF_CALL_FLOW_H

#include <jvmti.h>

#include <atomic>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <engine.h>
#include <pi/result.h>
#include <pi/unique_fd.h>
#include <report.h>
#include <snapshot.h>

#include "options.h"
#include "probes/c_functions.h"
#include "probes/call_logs.h"
#include "probes/class_probes.h"
#include "probes/commanded_recording.h"
#include "probes/initial_frames.h"
#include "probes/live_objects.h"
#include "probes/method_events.h"
#include "probes/method_list.h"
#include "virtual_threads.h"

namespace pi::jprof {

class CallFlow final : private CommandedRecording {
 public:
  // That of this process. Never destroyed, since events may come until the process ends.
  static CallFlow& get();

  // Before the JVM has initialised.
  Status start(JavaVM* vm, const Options& options);

  // Events, from any thread. They do not throw.
  void on_vm_init(JNIEnv* jni) noexcept;
  void on_vm_death(JNIEnv* jni) noexcept;
  void on_thread_end(jthread thread) noexcept;
  void on_dynamic_code(const char* name, const void* address, jint size) noexcept;
  void on_class_file(JNIEnv* jni, jclass redefined, jobject loader, const char* name,
                     std::span<const unsigned char> code, jint* new_size,
                     unsigned char** new_code) noexcept;
  void on_method_entry(jmethodID method) noexcept;
  void on_method_exit(jmethodID method, bool by_exception) noexcept;
  void on_allocation(jobject object, jlong bytes) noexcept;
  void on_mount() noexcept;
  void on_unmount() noexcept;
  void on_native_bind() noexcept;
  // The process ends by exit() or quick_exit(), perhaps without the JVM's event: C code has called
  // it.
  void on_exit() noexcept;

  // hookit is in this process, too. False: no calls are recorded.
  bool join(const pi::callflow::JoinedHooks& hooks) noexcept;

 private:
  Status choose_metrics();
  Status make_environment();
  void join_c_functions();
  Status prepare(JNIEnv* jni);
  Status start_recording();
  void end_recording();
  static size_t initial_frames(std::span<uint64_t> ids, pi::callflow::Type type);
  // The commands (call_flow_commands.cpp).
  Answer execute(JNIEnv* jni, const Command& command);
  static bool writes_logs(Verb verb);
  Answer answer(JNIEnv* jni, const Command& command) override;
  std::optional<Answer> finish(JNIEnv* jni) override;
  Answer set_log_names(const Command& command) override;
  std::string state() const override;
  Answer stop(JNIEnv* jni);
  void forget_counts();
  bool has_all_events() const;

  Status load_minima();
  bool trains_inlined() const;
  Status train(JNIEnv* jni, const pi::callflow::Meter& meter);
  Status save_minima(const pi::callflow::Snapshot& snapshot) const;
  bool enable(jvmtiEvent event);
  // What is written (call_flow_logs.cpp).
  Status write_logs(JNIEnv* jni);
  Status write_calls(const pi::callflow::Snapshot& snapshot,
                     const pi::callflow::ReportSettings& settings,
                     const pi::callflow::NameOf& name_of);
  template <class Format>
  Status write_events(LogFile& log, Format format, const pi::callflow::Snapshot& snapshot,
                      const pi::callflow::ReportSettings& settings,
                      const pi::callflow::NameOf& name_of);
  void name_threads(JNIEnv* jni, pi::callflow::Snapshot& snapshot);
  std::string name_of(uint64_t id) const;
  std::string inlined_methods() const;
  std::string unread_classes() const;
  std::string heading();
  void report(const std::string& text) const;

  JavaVM* vm_ = nullptr;
  pid_t pid_ = 0;
  MethodList methods_;
  ClassProbes class_probes_;
  MethodEvents method_events_;
  CFunctions c_functions_;
  std::atomic<bool> joins_ = false;  // C functions may be recorded, too
  bool live_ = false;                // of the options; does not change
  LiveObjects live_objects_;
  InitialFrames initial_frames_;
  VirtualThreads virtual_threads_;
  pi::callflow::Calibration calibration_;
  std::string minima_key_;                 // of observed minima
  std::vector<std::string> minima_notes_;  // why files of minima are not used
  bool mounts_ = false;                    // the JVM has virtual threads
  std::atomic<uint64_t> mount_count_ = 0;
  std::mutex mutex_;
  std::map<uint32_t, std::string> ended_threads_;  // names by kernel id
  // Protected by control_.
  pi::callflow::Settings settings_;
  std::vector<pi::callflow::Column> columns_;
  std::string metrics_note_;  // what is measured otherwise than its name says
  UniqueFd event_file_;
  bool prepared_ = false;            // probes exist, so calls can be recorded
  bool has_counts_ = false;          // that are not written
  std::atomic<bool> ended_ = false;  // the JVM ends
  CallLogs logs_;
};

}  // namespace pi::jprof

#endif  // PI_JPROF_CALL_FLOW_H
