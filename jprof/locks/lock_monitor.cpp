// SPDX-License-Identifier: MIT
// JLM and JLML in one JVM: from the options to log-jlm.
#include "locks/lock_monitor.h"

#include <unistd.h>

#include <ctime>
#include <exception>

#include "jvm_facts.h"
#include "locks/lock_events.h"
#include "messages.h"
#include "name_logs.h"
#include "probes/call_logs.h"
#include "probes/embedded.h"
#include "probes/own_tree.h"
#include "return_codes.h"

namespace pi::jprof {
namespace {

// Exceptions (out of memory) are caught here: the caller is the JVM, which is C.
template <class Action>
void run(Action action) noexcept {
  try {
    action();
  } catch (const std::exception& error) {
    say(std::string("lock monitor: ") + error.what());
  }
}

// The clock of System.nanoTime().
int64_t now() {
  timespec time{};
  ::clock_gettime(CLOCK_MONOTONIC, &time);
  return int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

}  // namespace

LockMonitor& LockMonitor::get() {
  static LockMonitor* const instance = new LockMonitor;
  return *instance;
}

// ---- start ----

bool LockMonitor::enable(jvmtiEvent event) {
  return jvmti_->SetEventNotificationMode(JVMTI_ENABLE, event, nullptr) == JVMTI_ERROR_NONE;
}

Status LockMonitor::start(JavaVM* vm, const Options& options) {
  options_ = options;
  if (embedded_transformer().empty())
    return Error{no_events,
                 "this JProf was built without ASM, which the probes of JLM need: install "
                 "libasm-java and build it again (scripts/install-deps java)"};
  if (const auto opened = open_log(); !opened) return opened;
  void* environment = nullptr;
  if (vm->GetEnv(&environment, JVMTI_VERSION_1_2) != JNI_OK)
    return Error{no_events, "this JVM has no JVMTI of version 1.2 or later"};
  jvmti_ = static_cast<jvmtiEnv*>(environment);
  jvmtiCapabilities wanted{};
  ClassProbes::add_capabilities(wanted);
  wanted.can_generate_monitor_events = 1;
  wanted.can_generate_garbage_collection_events = 1;
  const jvmtiEventCallbacks callbacks = lock_callbacks();
  if (jvmti_->AddCapabilities(&wanted) == JVMTI_ERROR_NONE &&
      jvmti_->SetEventCallbacks(&callbacks, sizeof callbacks) == JVMTI_ERROR_NONE &&
      enable(JVMTI_EVENT_VM_INIT) && enable(JVMTI_EVENT_VM_DEATH))
    return {};
  jvmti_->DisposeEnvironment();
  return Error{no_events, "this JVM does not let an agent count its monitors"};
}

Status LockMonitor::prepare(JNIEnv* jni) {
  auto prepared = class_probes_.prepare(jvmti_, jni, methods_, Purpose::locks);
  if (prepared) prepared = locks_.prepare(jni, gc_time_);
  if (!prepared) return prepared;
  ready_ = true;
  if (!enable(JVMTI_EVENT_CLASS_FILE_LOAD_HOOK) || !enable(JVMTI_EVENT_GARBAGE_COLLECTION_START) ||
      !enable(JVMTI_EVENT_GARBAGE_COLLECTION_FINISH) ||
      !enable(JVMTI_EVENT_MONITOR_CONTENDED_ENTERED))
    return Error{no_events, "this JVM does not report contended monitors"};
  class_probes_.instrument_loaded(jvmti_, jni);
  return {};
}

void LockMonitor::begin(JNIEnv* jni, Locks kind) {
  kind_ = kind;
  locks_.start(jni, kind);
  contended_.reset();
  counting_ = true;
  has_counts_ = true;
}

// ---- log-jlm ----

Status LockMonitor::open_log() {
  const std::string kind = "jlm." + std::to_string(written_ + 1);
  const auto path = log_path(options_, kind.c_str(), static_cast<uint32_t>(::getpid()));
  if (log_.is_open() && log_.path() == path) return {};
  if (log_.is_open()) log_.remove_if_empty();
  const auto opened = log_.open(path);
  return opened ? Status{} : Error{no_logs, opened.error().message};
}

std::string LockMonitor::heading() const {
  return " JProf " JPROF_VERSION " JVMTI\n JVM :: " + jvm_name(jvmti_) +
         "\n Process_Number_ID=" + std::to_string(::getpid()) + "\n";
}

Status LockMonitor::write_log(JNIEnv* jni) {
  if (const auto opened = open_log(); !opened) return opened;
  auto totals = locks_.counts(jni);
  if (!totals) return totals.error();
  totals->running = counting_;
  totals->times = kind_ == Locks::counts_and_times;
  totals->contended = contended_.counts();
  totals->uncovered = methods_.unrecorded();
  const auto written = write_and_close(
      log_, [&](const callflow::Sink& sink) { return sink(lock_report(*totals, heading())); });
  if (!written) return written;
  ++written_;
  last_ = log_.path();
  if (!options_.json) return {};
  return write_file(last_ + ".json",
                    [&](const callflow::Sink& sink) { return sink(lock_json(*totals)); });
}

// ---- events ----

void LockMonitor::on_vm_init(JNIEnv* jni) noexcept {
  run([&] {
    const std::lock_guard lock(control_);
    if (const auto good = prepare(jni); !good)
      return say(good.error().message + ". No monitors are counted; the JVM continues");
    server_.start(jvmti_, jni, options_,
                  [this](JNIEnv* own, const Command& command) { return execute(own, command); });
    if (!options_.no_start) begin(jni, options_.locks);
  });
}

void LockMonitor::on_vm_death(JNIEnv* jni) noexcept {
  run([&] {
    server_.stop();
    const std::lock_guard lock(control_);
    ended_ = true;
    if (!has_counts_) return log_.remove_if_empty();
    const JavaLocks::Ignored ignored(locks_, jni);
    if (const auto written = write_log(jni); !written)
      say(written.error().message);
    else if (options_.verbose)
      say("the JVM ends; log: '" + last_ + "'");
  });
}

void LockMonitor::on_class_file(JNIEnv* jni, jclass redefined, jobject loader, const char* name,
                                std::span<const unsigned char> code, jint* new_size,
                                unsigned char** new_code) noexcept {
  run([&] {
    if (!ready_) return;
    const JavaLocks::Ignored ignored(locks_, jni);
    class_probes_.on_class_file(jvmti_, jni, redefined, loader, name, code, new_size, new_code);
  });
}

void LockMonitor::on_contended_entered(JNIEnv* jni, jobject object) noexcept {
  if (!counting_) return;
  run([&] { contended_.on_entered(jvmti_, jni, object); });
}

void LockMonitor::on_gc_start() noexcept {
  gc_began_ = now();
}

void LockMonitor::on_gc_finish() noexcept {
  gc_time_ += now() - gc_began_;
}

}  // namespace pi::jprof
