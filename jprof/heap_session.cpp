// SPDX-License-Identifier: MIT
// The option HD in one JVM.
#include "heap_session.h"

#include <exception>
#include <utility>

#include "heap/heap_dump.h"
#include "local_frame.h"
#include "messages.h"
#include "return_codes.h"

namespace pi::jprof {
namespace {

constexpr jint references = 64;

// Exceptions (out of memory) are caught here: the caller is the JVM, which is C.
template <class Action>
void run(Action action) noexcept {
  try {
    action();
  } catch (const std::exception& error) {
    say(std::string("heap dump: ") + error.what());
  }
}

Result<jvmtiEnv*> new_environment(JavaVM* vm) {
  void* environment = nullptr;
  if (vm->GetEnv(&environment, JVMTI_VERSION_1_2) != JNI_OK)
    return Error{no_events, "this JVM has no JVMTI of version 1.2 or later"};
  return static_cast<jvmtiEnv*>(environment);
}

void JNICALL heap_vm_init(jvmtiEnv*, JNIEnv* jni, jthread) {
  HeapSession::get().on_vm_init(jni);
}

void JNICALL heap_vm_death(jvmtiEnv*, JNIEnv* jni) {
  HeapSession::get().on_vm_death(jni);
}

// With local references of its own.
Answer dump(jvmtiEnv* jvmti, JNIEnv* jni, const Options& options) {
  const LocalFrame frame(jni, references);
  if (!frame.good()) return failed("no memory for a heap dump");
  return take_heap_dump(jvmti, jni, options, false);
}

}  // namespace

HeapSession& HeapSession::get() {
  static HeapSession* const instance = new HeapSession;
  return *instance;
}

Status HeapSession::start(JavaVM* vm, const Options& options) {
  options_ = options;
  const auto jvmti = new_environment(vm);
  if (!jvmti) return jvmti.error();
  jvmti_ = *jvmti;
  jvmtiEventCallbacks callbacks{};
  callbacks.VMInit = heap_vm_init;
  callbacks.VMDeath = heap_vm_death;
  const auto enable = [this](jvmtiEvent event) {
    return jvmti_->SetEventNotificationMode(JVMTI_ENABLE, event, nullptr) == JVMTI_ERROR_NONE;
  };
  if (jvmti_->SetEventCallbacks(&callbacks, sizeof callbacks) == JVMTI_ERROR_NONE &&
      enable(JVMTI_EVENT_VM_INIT) && enable(JVMTI_EVENT_VM_DEATH))
    return {};
  jvmti_->DisposeEnvironment();
  return Error{no_events, "this JVM does not tell when it starts and ends"};
}

Status HeapSession::dump_now(JavaVM* vm, const Options& options) {
  void* jni = nullptr;
  const auto jvmti = new_environment(vm);
  if (!jvmti) return jvmti.error();
  Answer answer = failed("this thread is none of the JVM");
  if (vm->GetEnv(&jni, JNI_VERSION_1_6) == JNI_OK)
    answer = dump(*jvmti, static_cast<JNIEnv*>(jni), options);
  (*jvmti)->DisposeEnvironment();
  if (!answer.done) return Error{no_logs, answer.text};
  if (options.verbose) say("heap dump " + answer.text);
  return {};
}

void HeapSession::on_vm_init(JNIEnv* jni) noexcept {
  run([&] {
    const std::lock_guard lock(control_);
    // A JVM with other recordings has a server already, which dumps the heap, too.
    if (options_.has_commands()) return;
    server_.start(jvmti_, jni, options_,
                  [this](JNIEnv* own, const Command& command) { return execute(own, command); });
  });
}

void HeapSession::on_vm_death(JNIEnv* jni) noexcept {
  run([&] {
    server_.stop();
    const std::lock_guard lock(control_);
    ended_ = true;
    if (options_.no_start) return;
    const Answer answer = dump(jvmti_, jni, options_);
    if (!answer.done || options_.verbose) say("heap dump: " + answer.text);
  });
}

Answer HeapSession::execute(JNIEnv* jni, const Command& command) {
  const std::lock_guard lock(control_);
  return ended_ ? failed("the JVM ends") : execute_locked(jni, command);
}

Answer HeapSession::answer(JNIEnv*, const Command& command) {
  return failed("'" + command.text +
                "': this JVM only dumps its heap; its commands are HD and HDF");
}

Answer HeapSession::set_log_names(const Command& command) {
  auto options = with_log_names(options_, command);
  if (!options) return failed(options.error().message);
  options_ = std::move(*options);
  return {true, "the directory of the next log: '" + options_.log_path + "'"};
}

std::string HeapSession::state() const {
  return std::string("\nheap dumps: on command") +
         (options_.no_start ? "" : ", and when the JVM ends");
}

}  // namespace pi::jprof
