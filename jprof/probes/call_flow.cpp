// SPDX-License-Identifier: MIT
// CALLTREE and CALLFLOW in one JVM: from the options to log-rt.
#include "probes/call_flow.h"

#include <unistd.h>

#include <algorithm>
#include <ctime>
#include <exception>
#include <string_view>
#include <vector>

#include <engine.h>

#include "jvm_facts.h"
#include "jvmti_memory.h"
#include "log_text.h"
#include "messages.h"
#include "probes/call_flow_events.h"
#include "probes/embedded.h"
#include "probes/own_tree.h"
#include "probes/probe_class.h"
#include "probes/trainer.h"
#include "return_codes.h"
#include "thread_ids.h"

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

callflow::Meter meter_of(const Options& options) {
  switch (options.meter) {
    case Options::Meter::raw_cycles:
      return callflow::raw_cycles();
    case Options::Meter::thread_clock:
      return callflow::thread_clock();
    case Options::Meter::none:
      break;
  }
  return callflow::no_metrics();
}

// Removes the agent's work from a thread's tree. It has no callees, since its events are ignored.
void remove_agents_work(callflow::TreeCopy& thread) {
  std::vector<callflow::CallNode> kept;
  std::vector<size_t> moved;  // new indices
  for (auto& node : thread.nodes) {
    moved.push_back(kept.size());
    if (node.parent != callflow::no_parent) {
      node.parent = moved[node.parent];
      if (node.method == agents_work) {
        kept[node.parent].callees -= node.calls;
        continue;
      }
    }
    kept.push_back(std::move(node));
  }
  thread.nodes = std::move(kept);
}

std::string time_text(std::time_t time) {
  std::tm parts{};
  char text[32];
  ::gmtime_r(&time, &parts);
  return {text, std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &parts)};
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
  options_ = options;
  if (!options.method_events && embedded_transformer().empty())
    return Error{no_events,
                 "this JProf was built without ASM, which the probes of CALLTREE need: install "
                 "libasm-java and build it again (scripts/install-deps java)"};
  if (const auto opened = logs_.open(options); !opened) return opened;
  return make_environment();
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
  if (options_.method_events)
    MethodEvents::add_capabilities(wanted);
  else
    ClassProbes::add_capabilities(wanted);
  const jvmtiEventCallbacks callbacks = call_flow_callbacks();
  const bool able = jvmti_->AddCapabilities(&wanted) == JVMTI_ERROR_NONE &&
                    jvmti_->SetEventCallbacks(&callbacks, sizeof callbacks) == JVMTI_ERROR_NONE &&
                    enable(JVMTI_EVENT_VM_INIT) && enable(JVMTI_EVENT_VM_DEATH) &&
                    enable(JVMTI_EVENT_THREAD_END) && enable(JVMTI_EVENT_DYNAMIC_CODE_GENERATED);
  mounts_ = able && virtual_threads_.prepare(jvmti_) &&
            virtual_threads_.enable(jvmti_, call_flow_mount, call_flow_unmount);
  if (able) return {};
  jvmti_->DisposeEnvironment();
  return Error{no_events, "this JVM does not let an agent add probes to classes"};
}

Status CallFlow::load_minima() {
  // The events of the JVM cost so much more than what they measure that nothing is left of it.
  calibration_.on = options_.calibrate && !options_.method_events;
  const std::pair<const std::string&, callflow::Minima&> files[] = {
      {options_.minima_file, calibration_.stored},
      {options_.environment_file, calibration_.environmental}};
  for (const auto& [file, minima] : files) {
    if (file.empty()) continue;
    auto read = callflow::read_minima(file);
    if (!read) return read.error();
    minima = std::move(*read);
  }
  return {};
}

// Learns the cost of the probes from methods that do nothing: otherwise what a method itself takes
// would be subtracted, if it is the only one in its sequence.
Status CallFlow::train(JNIEnv* jni, const callflow::Meter& meter) {
  const jclass type = class_probes_.define_trained(jni);
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
  settings_.meter = meter_of(options_);
  if (const auto loaded = load_minima(); !loaded) return loaded;
  if (options_.method_events) {
    method_events_.prepare(vm_, methods_);
    if (!MethodEvents::enable(jvmti_)) return Error{no_events, "this JVM has no events of methods"};
  } else {
    const auto prepared = class_probes_.prepare(jvmti_, jni, methods_);
    if (!prepared) return prepared;
    if (calibration_.on && !settings_.meter.metrics.empty()) {
      const auto trained = train(jni, settings_.meter);
      calibration_.on = static_cast<bool>(trained);
      if (!trained) say(trained.error().message + ". The metrics contain the cost of the probes");
    }
    if (!enable(JVMTI_EVENT_CLASS_FILE_LOAD_HOOK))
      return Error{no_events, "this JVM does not report class files"};
    class_probes_.instrument_loaded(jvmti_, jni);
  }
  prepared_ = true;
  return {};
}

// Counts of a recording before that could not be written are discarded.
Status CallFlow::start_recording() {
  auto started = callflow::start(settings_);
  has_counts_ = static_cast<bool>(started);
  return started;
}

// ---- events ----

void CallFlow::on_vm_init(JNIEnv* jni) noexcept {
  run([&] {
    const std::lock_guard lock(control_);
    auto good = prepare(jni);
    if (good) start_server(jni);
    if (good && options_.start) good = start_recording();
    if (!good)
      say(good.error().message + ". No call flow is recorded; the JVM continues");
    else if (options_.start)
      report("call flow is recorded; log: '" + logs_.tree().path() + "'");
  });
}

void CallFlow::on_vm_death(JNIEnv* jni) noexcept {
  run([&] {
    server_.stop();
    const std::lock_guard lock(control_);
    ended_ = true;
    callflow::stop();
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
  if (name && size > 0 && std::string_view(name) == "Interpreter")
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

void CallFlow::on_mount() noexcept {
  ++mount_count_;
  run([] { begin_virtual_thread(); });
}

void CallFlow::on_unmount() noexcept {
  end_virtual_thread();
}

// ---- logs ----

void CallFlow::name_threads(JNIEnv* jni, callflow::Snapshot& snapshot) {
  std::map<uint32_t, std::string> names;
  jint count = 0;
  JvmtiMemory<jthread> threads(jvmti_);
  const auto ids = ThreadIds::of_this_jvm(jni);
  if (!ids || jvmti_->GetAllThreads(&count, threads.place()) != JVMTI_ERROR_NONE) count = 0;
  for (jint i = 0; i < count; ++i) {
    const jthread thread = threads.get()[i];
    const auto tid = ids->find(jni, thread);
    if (auto name = tid ? thread_name(vm_, jvmti_, thread) : std::nullopt)
      names[*tid] = std::move(*name);
    jni->DeleteLocalRef(thread);
  }
  const std::lock_guard lock(mutex_);
  for (auto& thread : snapshot.threads) {
    const auto& known = thread.ended ? ended_threads_ : names;
    if (const auto found = known.find(thread.tid); found != known.end())
      thread.name = thread_log_name(found->second);
  }
}

std::string CallFlow::heading() {
  std::string text = " JProf " JPROF_VERSION " JVMTI" +
                     std::string(options_.method_events ? ", events of the JVM" : "") +
                     "\n JVM :: " + jvm_name(jvmti_) +
                     "\n Written :: " + time_text(std::time(nullptr)) +
                     "\n Process_Number_ID=" + std::to_string(::getpid()) + "\n";
  if (!options_.method_events)
    text +=
        " Calls of other code :: '" + logs_.unrecorded().path() + "' lists what has no probes\n";
  if (mount_count_ > 0)
    text += " Virtual threads :: their calls are not recorded; they were mounted " +
            std::to_string(mount_count_) + " times\n";
  return text;
}

Status CallFlow::save_minima(const callflow::Snapshot& snapshot) const {
  if (options_.save_minima_file.empty()) return {};
  return write_file(options_.save_minima_file,
                    callflow::minima_text(callflow::observed_minima(snapshot, calibration_.stored,
                                                                    calibration_.learns)));
}

Status CallFlow::write_logs(JNIEnv* jni) {
  if (const auto opened = logs_.open(options_); !opened) return opened;
  auto snapshot = callflow::take_snapshot(calibration_);
  const auto saved = save_minima(snapshot);
  for (auto& thread : snapshot.threads) remove_agents_work(thread);
  name_threads(jni, snapshot);
  callflow::ReportSettings settings;
  settings.heading = heading();
  settings.types = options_.method_types;
  settings.legend = options_.legend;
  const auto name_of = [this](uint64_t method) { return methods_.name(method); };
  const std::string path = logs_.tree().path();
  // Without the tree nothing else is written, so that the same names can be tried again.
  if (auto written = append_and_close(logs_.tree(), callflow::log_rt(snapshot, settings, name_of));
      !written)
    return written;
  logs_.count();
  // All else that can be written is written; the first error is returned.
  std::vector<Status> results{saved};
  if (options_.json)
    results.push_back(write_file(path + ".json", callflow::log_rt_json(snapshot, name_of)));
  if (options_.folded)
    results.push_back(write_file(path + ".folded", callflow::folded(snapshot, 0, name_of)));
  if (!options_.method_events) class_probes_.list_unmodifiable(jvmti_, jni);
  results.push_back(append_and_close(logs_.unrecorded(), methods_.unrecorded()));
  const auto failed =
      std::find_if(results.begin(), results.end(), [](const auto& r) { return !r; });
  return failed == results.end() ? Status{} : *failed;
}

}  // namespace pi::jprof
