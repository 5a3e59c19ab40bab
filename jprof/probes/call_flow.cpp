// SPDX-License-Identifier: MIT
// CALLTREE and CALLFLOW in one JVM: from the options to a recording.
#include "probes/call_flow.h"

#include <pthread.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <ctime>
#include <exception>
#include <string_view>
#include <vector>

#include <engine.h>
#include <event_log.h>
#include <minima.h>

#include "dynamic_code.h"
#include "jvm_facts.h"
#include "jvm_flags.h"
#include "jvmti_memory.h"
#include "log_text.h"
#include "messages.h"
#include "probes/call_flow_events.h"
#include "probes/embedded.h"
#include "probes/object_info.h"
#include "probes/own_tree.h"
#include "probes/probe_class.h"
#include "probes/trainer.h"
#include "ptt_library.h"
#include "return_codes.h"
#include "thread_ids.h"

// By exit() and, after start(), by quick_exit().
[[gnu::destructor]] static void at_exit() {
  pi::jprof::CallFlow::get().on_exit();
}

extern "C" [[gnu::visibility("default")]] bool pitrace_call_flow_1(
    const pi::callflow::JoinedHooks* hooks) {
  return pi::jprof::CallFlow::get().join(*hooks);
}

namespace pi::jprof {
namespace {

namespace callflow = pi::callflow;

// Exceptions (out of memory) are caught here: the caller is the JVM, which is C.
template <class Action>
void run(Action action) noexcept {
  try {
    action();
  } catch (const std::exception& error) {
    say(std::string("call flow: ") + error.what());
  }
}

}  // namespace

CallFlow& CallFlow::get() {
  static CallFlow* const instance = new CallFlow;
  return *instance;
}

void CallFlow::report(const std::string& text) const {
  if (options_.verbose) say(text);
}

// ---- start ----

Status CallFlow::start(JavaVM* vm, const Options& options) {
  vm_ = vm;
  pid_ = ::getpid();
  options_ = options;
  live_ = options.live_objects;
  if (!options.method_events && embedded_transformer().empty())
    return Error{no_events,
                 "this JProf was built without ASM, which the probes of CALLTREE need: install "
                 "libasm-java and build it again (scripts/install-deps java)"};
  if (const auto chosen = choose_metrics(); !chosen) return chosen;
  if (const auto made = make_environment(); !made) return made;
  join_c_functions();
  // A child that C code makes has none of the JVM's other threads. What it executes is not
  // recorded.
  ::pthread_atfork(nullptr, nullptr, [] { callflow::child_of_fork(own_tree); });
  ::at_quick_exit(at_exit);
  const auto opened = logs_.open(options);
  // No probes either: nothing could be written.
  if (!opened) jvmti_->DisposeEnvironment();
  return opened;
}

Status CallFlow::choose_metrics() {
  if (options_.object_info) {
    settings_.meter = ObjectInfo::meter();
    return {};
  }
  auto chosen = choose_meter(options_.metrics, options_.metrics_may_fail, load_ptt);
  if (!chosen) return Error{wrong_options, chosen.error().message};
  if (!chosen->note.empty()) say(chosen->note);
  settings_.meter = chosen->meter;
  columns_ = chosen->columns;
  metrics_note_ = chosen->note;
  return {};
}

// Before the logs are opened: hookit may have to write its own.
void CallFlow::join_c_functions() {
  const auto kind = settings_.meter.kind;
  const bool simple = kind == callflow::MeterKind::none || kind == callflow::MeterKind::raw_cycles;
  c_functions_.set(!simple || options_.call_trace,
                   options_.calibrate && !settings_.meter.metrics.empty());
  joins_ = true;
  c_functions_.find_hooks(pitrace_call_flow_1);
}

bool CallFlow::enable(jvmtiEvent event) {
  return jvmti_->SetEventNotificationMode(JVMTI_ENABLE, event, nullptr) == JVMTI_ERROR_NONE;
}

Status CallFlow::make_environment() {
  void* environment = nullptr;
  if (vm_->GetEnv(&environment, JVMTI_VERSION_1_2) != JNI_OK)
    return Error{no_events, "this JVM has no JVMTI of version 1.2 or later"};
  jvmti_ = static_cast<jvmtiEnv*>(environment);
  jvmtiCapabilities wanted{};
  wanted.can_generate_native_method_bind_events = 1;
  if (options_.method_events)
    MethodEvents::add_capabilities(wanted);
  else
    ClassProbes::add_capabilities(wanted);
  if (options_.object_info) ObjectInfo::add_capability(wanted);
  if (options_.live_objects) LiveObjects::add_capability(wanted);
  const jvmtiEventCallbacks callbacks = call_flow_callbacks();
  const bool able = jvmti_->AddCapabilities(&wanted) == JVMTI_ERROR_NONE &&
                    jvmti_->SetEventCallbacks(&callbacks, sizeof callbacks) == JVMTI_ERROR_NONE &&
                    (!options_.object_info || ObjectInfo::prepare(jvmti_)) &&
                    enable(JVMTI_EVENT_VM_INIT) && enable(JVMTI_EVENT_VM_DEATH) &&
                    enable(JVMTI_EVENT_THREAD_END) && enable(JVMTI_EVENT_DYNAMIC_CODE_GENERATED) &&
                    enable(JVMTI_EVENT_NATIVE_METHOD_BIND);
  mounts_ = able && virtual_threads_.prepare(jvmti_) &&
            virtual_threads_.enable(jvmti_, call_flow_mount, call_flow_unmount);
  if (able) return {};
  jvmti_->DisposeEnvironment();
  return Error{no_events, "this JVM does not let an agent add probes to classes"};
}

Status CallFlow::load_minima() {
  // The events of the JVM cost so much more than what they measure that nothing is left of it.
  // Allocations are exact without calibration.
  calibration_.on = options_.calibrate && !options_.method_events && !options_.object_info;
  minima_key_ =
      jvm_name(jvmti_) + "; " + code_generation_flags() + "; " + callflow::processor_name();
  const auto load = [&](const std::string& path, callflow::Minima& minima) -> Status {
    if (path.empty()) return {};
    auto loaded = callflow::load_minima(path, minima_key_);
    if (!loaded) return loaded.error();
    minima = std::move(loaded->minima);
    if (loaded->note.empty()) return {};
    say(loaded->note);
    minima_notes_.push_back(loaded->note);
    return {};
  };
  const auto loaded = load(options_.environment_file, calibration_.environmental);
  if (!loaded) return loaded;
  if (!trains_inlined()) minima_key_ += "; methods that are not inlined";
  return load(options_.minima_file, calibration_.stored);
}

// Environmental minima are those of methods that are called, not inlined.
bool CallFlow::trains_inlined() const {
  return calibration_.environmental.values.empty();
}

// Learns the cost of the probes from methods that do nothing: otherwise what a method itself takes
// would be subtracted, if it is the only one in its sequence.
Status CallFlow::train(JNIEnv* jni, const callflow::Meter& meter) {
  const jclass type = class_probes_.define_trained(jni, trains_inlined());
  if (!type) return Error{no_events, "the trainer of calibration cannot be defined"};
  callflow::Settings settings;
  settings.meter = meter;
  if (const auto started = callflow::start(settings); !started) return started;
  const auto trained = jprof::train(jni, type);
  callflow::stop();
  jni->DeleteLocalRef(type);
  if (!trained) return trained;
  calibration_.stored =
      callflow::observed_minima(callflow::take_snapshot(calibration_), calibration_.stored);
  calibration_.learns = false;
  return {};
}

Status CallFlow::prepare(JNIEnv* jni) {
  // Code that was generated before its event was enabled.
  (void)jvmti_->GenerateEvents(JVMTI_EVENT_DYNAMIC_CODE_GENERATED);
  if (const auto loaded = load_minima(); !loaded) return loaded;
  if (options_.method_events) {
    method_events_.prepare(vm_, methods_);
    if (!MethodEvents::enable(jvmti_)) return Error{no_events, "this JVM has no events of methods"};
  } else {
    const auto prepared = class_probes_.prepare(jvmti_, jni, methods_, Purpose::calls);
    if (!prepared) return prepared;
    if (calibration_.on && !settings_.meter.metrics.empty()) {
      const auto trained = train(jni, settings_.meter);
      calibration_.on = static_cast<bool>(trained);
      if (!trained) say(trained.error().message + ". The metrics contain the cost of the probes");
    }
    if (!enable(JVMTI_EVENT_CLASS_FILE_LOAD_HOOK))
      return Error{no_events, "this JVM does not report class files"};
    class_probes_.instrument_loaded(jvmti_, jni);
    if (const std::string unread = unread_classes(); !unread.empty())
      say("classes without probes: " + unread +
          ". Their calls are not recorded; build JProf with a newer libasm-java");
  }
  initial_frames_.prepare(vm_, jvmti_, methods_);
  settings_.initial_frames = initial_frames;
  prepared_ = true;
  return {};
}

// Not at the event of a C function: it may be a signal handler, in which the JVM must not be
// called.
size_t CallFlow::initial_frames(std::span<uint64_t> ids, callflow::Type type) {
  size_t found = 0;
  if (type == callflow::Type::c_function || type == callflow::Type::patched_function) return found;
  run([&] { found = get().initial_frames_.find(ids); });
  return found;
}

// Counts of a recording before that could not be written are discarded.
Status CallFlow::start_recording() {
  if (options_.call_trace) {
    auto file = callflow::create_event_log(logs_.events().path());
    if (!file) return Error{no_logs, file.error().message};
    event_file_ = std::move(*file);
    settings_.event_log = event_file_.get();
  }
  auto started = callflow::start(settings_);
  has_counts_ = static_cast<bool>(started);
  if (!started) return started;
  c_functions_.begin();
  if (options_.object_info && !enable(JVMTI_EVENT_SAMPLED_OBJECT_ALLOC))
    return Error{no_events, "this JVM does not report allocations"};
  return {};
}

void CallFlow::end_recording() {
  if (callflow::is_recording()) c_functions_.end();
  callflow::stop();
  if (options_.object_info)
    (void)jvmti_->SetEventNotificationMode(JVMTI_DISABLE, JVMTI_EVENT_SAMPLED_OBJECT_ALLOC,
                                           nullptr);
}

// ---- events ----

void CallFlow::on_vm_init(JNIEnv* jni) noexcept {
  run([&] {
    std::unique_lock lock(control_);
    auto good = prepare(jni);
    if (good)
      server_.start(jvmti_, jni, options_,
                    [this](JNIEnv* own, const Command& command) { return execute(own, command); });
    if (good && options_.start) good = start_recording();
    if (!good)
      say(good.error().message + ". No call flow is recorded; the JVM continues");
    else if (options_.start)
      report("call flow is recorded; log: '" + logs_.next() + "'");
    lock.unlock();
    if (options_.object_info && callflow::is_recording()) ObjectInfo::begin(jvmti_);
  });
}

void CallFlow::on_vm_death(JNIEnv* jni) noexcept {
  run([&] {
    server_.stop();
    const std::lock_guard lock(control_);
    ended_ = true;
    end_recording();
    if (!has_counts_) return logs_.discard();
    if (const auto written = write_logs(jni); !written)
      say(written.error().message);
    else
      report("the JVM ends; log: '" + logs_.last() + "'");
  });
}

void CallFlow::on_thread_end(jthread thread) noexcept {
  run([&] {
    callflow::thread_ends(own_tree);
    auto name = thread_name(vm_, jvmti_, thread);
    // The launcher's thread, which was main, has this name while it waits for the others.
    if (!name || *name == "DestroyJavaVM") return;
    const std::lock_guard lock(mutex_);
    ended_threads_[static_cast<uint32_t>(::gettid())] = std::move(*name);
  });
}

void CallFlow::on_dynamic_code(const char* name, const void* address, jint size) noexcept {
  if (name && std::string_view(name) == "Interpreter" && is_generated(address, size))
    set_interpreter(address, static_cast<size_t>(size));
}

void CallFlow::on_class_file(JNIEnv* jni, jclass redefined, jobject loader, const char* name,
                             std::span<const unsigned char> code, jint* new_size,
                             unsigned char** new_code) noexcept {
  run([&] {
    class_probes_.on_class_file(jvmti_, jni, redefined, loader, name, code, new_size, new_code);
  });
}

void CallFlow::on_method_entry(jmethodID method) noexcept {
  run([&] { method_events_.on_entry(jvmti_, method); });
}

void CallFlow::on_method_exit(jmethodID method, bool by_exception) noexcept {
  run([&] { method_events_.on_exit(jvmti_, method, by_exception); });
}

void CallFlow::on_allocation(jobject object, jlong bytes) noexcept {
  if (live_) live_objects_.mark(jvmti_, object);
  ObjectInfo::on_allocation(bytes);
}

void CallFlow::on_mount() noexcept {
  ++mount_count_;
  run([] { begin_virtual_thread(); });
}

void CallFlow::on_unmount() noexcept {
  end_virtual_thread();
}

// The first method of a library is called, or about to be: a JVM reports no loaded libraries.
void CallFlow::on_native_bind() noexcept {
  run([&] { c_functions_.see_libraries(); });
}

// A child of fork() has the locks as they were, and the logs and the socket are its parent's.
void CallFlow::on_exit() noexcept {
  run([&] {
    if (ended_ || ::getpid() != pid_) return;
    {
      const std::lock_guard lock(control_);
      if (!has_counts_) return;
    }
    void* jni = nullptr;
    if (vm_->GetEnv(&jni, JNI_VERSION_1_6) == JNI_OK ||
        vm_->AttachCurrentThreadAsDaemon(&jni, nullptr) == JNI_OK)
      on_vm_death(static_cast<JNIEnv*>(jni));
  });
}

bool CallFlow::join(const callflow::JoinedHooks& hooks) noexcept {
  if (!joins_) return false;
  bool joined = false;
  run([&] {
    c_functions_.add(hooks);
    joined = true;
  });
  return joined;
}

}  // namespace pi::jprof
