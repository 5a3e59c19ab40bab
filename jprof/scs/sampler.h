// SPDX-License-Identifier: MIT
// SCS in one JVM: from the options to log-rt.
#ifndef PI_JPROF_SAMPLER_H
#define PI_JPROF_SAMPLER_H

#include <jvmti.h>

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include <pi/result.h>
#include <snapshot.h>

#include "options.h"
#include "probes/call_logs.h"
#include "probes/commanded_recording.h"
#include "probes/method_list.h"
#include "scs/native_stacks.h"
#include "scs/occurrences.h"
#include "scs/safepoint_stacks.h"
#include "scs/sample_buffers.h"
#include "scs/sample_trees.h"

namespace pi::jprof {

class Sampler final : private CommandedRecording {
 public:
  // That of this process. Never destroyed, since events may come until the process ends.
  static Sampler& get();

  // Before the JVM has initialised.
  Status start(JavaVM* vm, const Options& options);

  // Events, from any thread. They do not throw.
  void on_vm_init(JNIEnv* jni) noexcept;
  void on_vm_death(JNIEnv* jni) noexcept;
  void on_thread_start(jthread thread) noexcept;
  void on_thread_end(jthread thread) noexcept;
  void on_class_prepare(jclass type) noexcept;
  void on_class_load(jclass type) noexcept;
  void on_monitor(JNIEnv* jni, jobject object) noexcept;
  void on_allocation(jclass type, jlong bytes) noexcept;

 private:
  Status make_environment();
  bool enable(jvmtiEventMode mode, jvmtiEvent event);
  bool enable_events(jvmtiEventMode mode);
  // The agent's thread, which counts samples.
  static void JNICALL run_thread(jvmtiEnv* jvmti, JNIEnv* jni, void* sampler);
  void count_until_end(JNIEnv* jni);
  // The recording.
  Status begin(JNIEnv* jni);
  Status begin_stacks(JNIEnv* jni);
  Status begin_async_stacks(JNIEnv* jni);
  Status prepare_native();
  void end();
  bool is_recording() const;
  void clear();
  void prepare_methods(JNIEnv* jni);
  void drain();
  void add(const Sample& sample, std::span<const uint32_t> native);
  void add(uint32_t tid, std::vector<uint32_t> inner, std::span<const uint64_t> methods,
           const SampleValues& values);
  uint32_t number_of(uint64_t method);
  void forget_numbers();
  // An event.
  template <class ClassOf>
  void occur(uint64_t bytes, ClassOf class_of);
  // The commands (sampler_commands.cpp).
  Answer execute(JNIEnv* jni, const Command& command);
  Answer answer(JNIEnv* jni, const Command& command) override;
  std::optional<Answer> finish(JNIEnv* jni) override;
  Answer set_log_names(const Command& command) override;
  std::string state() const override;
  Answer stop(JNIEnv* jni);
  // What is written (sampler_logs.cpp).
  Status write_logs(JNIEnv* jni);
  callflow::Snapshot take_snapshot(JNIEnv* jni);
  std::string description() const;
  void report(const std::string& text) const;

  JavaVM* vm_ = nullptr;
  enum class Way { async, safepoint, events } way_ = Way::async;
  std::optional<Occurrences> occurrences_;  // that are sampled, if way_ is events
  uint64_t period_ = 0;
  size_t frames_ = 0;        // the most of a stack
  bool with_class_ = false;  // a frame for the object of an event
  bool with_native_ = false;
  MethodList methods_;
  // Protected by control_.
  bool has_counts_ = false;  // that are not written
  bool ended_ = false;       // the JVM ends
  CallLogs logs_;
  // Of taking samples out of their buffers; after control_. Protects what follows.
  std::mutex draining_;
  std::optional<CodeRange> java_code_;
  std::optional<NativeStacks> native_;
  // Of counting; after draining_. Threads that start and end wait for it, so nobody who has it
  // waits for the loader, or reads files. Protects what follows.
  mutable std::mutex counting_;
  std::condition_variable changed_;
  bool recording_ = false;
  bool thread_ends_ = false;
  SampleTrees trees_;
  SafepointStacks safepoint_stacks_;
  uint64_t walked_ = 0, lost_ = 0;                  // samples
  std::unordered_map<uint64_t, uint32_t> numbers_;  // of methods by the JVM's id
  std::map<int32_t, uint64_t> unwalked_;            // by outcome
};

}  // namespace pi::jprof

#endif  // PI_JPROF_SAMPLER_H
