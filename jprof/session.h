// SPDX-License-Identifier: MIT
// JProf in one JVM: when it records, by which JVMTI environment, and what the JVM's events become.
#ifndef PI_JPROF_SESSION_H
#define PI_JPROF_SESSION_H

#include <jvmti.h>

#include <atomic>
#include <mutex>
#include <optional>
#include <string>

#include <pi/result.h>

#include "methods.h"
#include "name_logs.h"
#include "options.h"
#include "return_codes.h"
#include "virtual_threads.h"

namespace pi::jprof {

class Session {
 public:
  // The session of this process. Never destroyed, since events may come until the process ends.
  static Session& get();

  // late: the JVM runs already. No effect if active with the same options. Errors: a ReturnCode.
  Status start(JavaVM* vm, const Options& options, bool late);
  // No effect if it is not active.
  void detach();

  // Events, from any thread and at any time. They do not throw.
  void on_vm_init(JNIEnv* jni, jthread thread);
  void on_vm_death();
  void on_compiled(jmethodID method, jint size, const void* address, const void* compile_info);
  void on_unloaded(const void* address);
  void on_dynamic(const char* name, const void* address, jint size);
  void on_thread_start(jthread thread);
  void on_thread_end(jthread thread);
  void on_mount(JNIEnv* jni, jthread thread);
  void on_unmount();

 private:
  class InEvent;

  void lose_event() noexcept;
  Status record(bool late);
  Status open_messages();
  Status make_environment();
  void explain_warning();
  bool enable(jvmtiEventMode mode);  // false if an event is not available
  void request_existing_code();
  void find_threads(JNIEnv* jni, jthread current);
  std::optional<std::string> name_of(jthread thread);
  void dispose();
  void report(const std::string& text);

  std::mutex control_;  // serialises start() and detach()
  std::atomic<bool> active_ = false;
  Options options_;
  JavaVM* vm_ = nullptr;
  // Read by events while start() or detach() replaces it.
  std::atomic<jvmtiEnv*> jvmti_ = nullptr;
  std::atomic<uint32_t> in_events_ = 0;
  VirtualThreads virtual_threads_;
  bool mounts_ = false;  // they are recorded
  bool explained_ = false;
  LogFile messages_;  // log-msg
  NameLogs logs_;
};

}  // namespace pi::jprof

#endif  // PI_JPROF_SESSION_H
