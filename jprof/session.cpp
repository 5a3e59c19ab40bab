// SPDX-License-Identifier: MIT
// JProf in one JVM: when it records, by which JVMTI environment, and what the JVM's events become.
#include "session.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <exception>
#include <thread>
#include <utility>

#include <pi/jit_log.h>

#include "dynamic_code.h"
#include "events.h"
#include "inlining.h"
#include "jvm_facts.h"
#include "jvmti_memory.h"
#include "messages.h"
#include "proc_text.h"
#include "thread_ids.h"

namespace pi::jprof {
namespace {

// When this thread called GenerateEvents; 0 outside that call.
thread_local uint64_t asked_at;

// Cached: events of virtual threads need it often.
uint32_t own_tid() {
  thread_local const auto tid = static_cast<uint32_t>(::syscall(SYS_gettid));
  return tid;
}

// Options can also be in files and in the JVM itself; what is only there is not found.
bool is_in_options_of_jvm(std::string_view word) {
  std::string all = read_proc("/proc/self/cmdline").value_or("");
  for (const char* name : {"JAVA_TOOL_OPTIONS", "JDK_JAVA_OPTIONS", "_JAVA_OPTIONS"})
    if (const char* value = std::getenv(name)) all.append(1, '\0').append(value);
  return all.find(word) != all.npos;
}

bool same_logs(const Options& a, const Options& b) {
  return a.jita2n == b.jita2n && a.code_bytes == b.code_bytes && a.thread_names == b.thread_names &&
         a.virtual_threads == b.virtual_threads && log_path(a, "", 0) == log_path(b, "", 0);
}

constexpr jvmtiEvent code_events[] = {JVMTI_EVENT_COMPILED_METHOD_LOAD,
                                      JVMTI_EVENT_COMPILED_METHOD_UNLOAD,
                                      JVMTI_EVENT_DYNAMIC_CODE_GENERATED};
constexpr jvmtiEvent thread_events[] = {JVMTI_EVENT_THREAD_START, JVMTI_EVENT_THREAD_END};
constexpr jvmtiEvent jvm_events[] = {JVMTI_EVENT_VM_INIT, JVMTI_EVENT_VM_DEATH};

}  // namespace

// An event in progress: dispose() waits for its end. Exceptions (out of memory) are caught here:
// the caller is the JVM, which is C.
class Session::InEvent {
 public:
  explicit InEvent(Session& session) : session_(session) { ++session_.in_events_; }
  ~InEvent() { --session_.in_events_; }
  InEvent(const InEvent&) = delete;
  InEvent& operator=(const InEvent&) = delete;

  // The environment, or null after it was disposed of.
  jvmtiEnv* jvmti() const { return session_.jvmti_.load(); }

  template <class Action>
  static void run(Session& session, Action action) noexcept {
    const InEvent event(session);
    try {
      if (jvmtiEnv* jvmti = event.jvmti()) action(jvmti);
    } catch (const std::exception&) {
      session.lose_event();
    }
  }

 private:
  Session& session_;
};

void Session::lose_event() noexcept {
  try {
    logs_.lose(logs_.now());
  } catch (const std::exception&) {
    // There is no memory for a message either.
  }
}

Session& Session::get() {
  static Session* const session = new Session;
  return *session;
}

void Session::report(const std::string& text) {
  if (options_.verbose) say(text);
  if (options_.verbose_to_log) (void)messages_.append(text + ".\n");
}

// ---- start and end ----

Status Session::start(JavaVM* vm, const Options& options, bool late) {
  const std::lock_guard lock(control_);
  if (active_) {
    if (same_logs(options, options_)) return {};
    return Error{already_active, "JProf is already active, with other logs or kinds of logs (" +
                                     logs_.summary(false) + "). End it with DETACH first"};
  }
  vm_ = vm;
  options_ = options;
  auto started = open_messages();
  if (started) started = make_environment();
  if (started) started = record(late);
  if (!started) {
    dispose();
    messages_.close();
    return started;
  }
  active_ = true;
  if (late) explain_warning();
  report(std::string(late ? "attached to a running JVM" : "started with the JVM") +
         "; logs: " + logs_.summary(false));
  return {};
}

Status Session::open_messages() {
  if (!options_.verbose_to_log) return {};
  const auto path = log_path(options_, "msg", static_cast<uint32_t>(::getpid()));
  const auto opened = messages_.open(path);
  return opened ? Status{} : Error{no_logs, opened.error().message};
}

Status Session::make_environment() {
  void* environment = nullptr;
  jint got = vm_->GetEnv(&environment, JVMTI_VERSION_1_2);
  // HotSpot loads agents through its socket shortly before its JVMTI is live, and returns an error
  // until then.
  for (int tries = 0; got == JNI_EDETACHED && tries < 500; ++tries) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
    got = vm_->GetEnv(&environment, JVMTI_VERSION_1_2);
  }
  if (got == JNI_EDETACHED) return Error{no_events, "this JVM is starting or ending; try again"};
  if (got != JNI_OK) return Error{no_events, "this JVM has no JVMTI of version 1.2 or later"};
  auto* jvmti = static_cast<jvmtiEnv*>(environment);
  jvmtiCapabilities wanted{}, names{};
  wanted.can_generate_compiled_method_load_events = options_.jita2n;
  // Without these capabilities the log has no source lines.
  names.can_get_line_numbers = 1;
  names.can_get_source_file_name = 1;
  jvmtiEventCallbacks callbacks = event_callbacks();
  if (jvmti->AddCapabilities(&wanted) != JVMTI_ERROR_NONE ||
      jvmti->SetEventCallbacks(&callbacks, sizeof callbacks) != JVMTI_ERROR_NONE) {
    jvmti->DisposeEnvironment();
    return Error{no_events, "this JVM does not report compiled methods"};
  }
  (void)jvmti->AddCapabilities(&names);
  // A JVM without virtual threads has nothing to record.
  mounts_ = options_.virtual_threads && virtual_threads_.prepare(jvmti);
  jvmti_ = jvmti;
  return {};
}

bool Session::enable(jvmtiEventMode mode) {
  jvmtiEnv* const jvmti = jvmti_;
  bool all = true;
  const auto set = [&](const auto& events) {
    for (const jvmtiEvent event : events)
      if (jvmti->SetEventNotificationMode(mode, event, nullptr) != JVMTI_ERROR_NONE) all = false;
  };
  set(jvm_events);
  if (options_.jita2n) set(code_events);
  if (options_.thread_names) set(thread_events);
  if (mounts_ && mode == JVMTI_DISABLE) virtual_threads_.disable(jvmti);
  if (mounts_ && mode == JVMTI_ENABLE &&
      !virtual_threads_.enable(jvmti, mount_callback(), unmount_callback()))
    all = false;
  return all;
}

Status Session::record(bool late) {
  if (const auto opened = logs_.open(options_); !opened)
    return Error{no_logs, opened.error().message};
  if (!enable(JVMTI_ENABLE)) {
    logs_.abandon();
    return Error{no_events, "this JVM does not report code or threads"};
  }
  logs_.begin(late, jvm_name(jvmti_));
  if (!late) return {};  // the rest at VMInit
  void* jni = nullptr;
  if (vm_->GetEnv(&jni, JNI_VERSION_1_6) != JNI_OK) return {};
  if (mounts_) virtual_threads_.find_fields(static_cast<JNIEnv*>(jni));
  find_threads(static_cast<JNIEnv*>(jni), nullptr);
  request_existing_code();
  return {};
}

// JDK 21 and later warn on stderr before they load an agent into a running JVM, once for a library.
void Session::explain_warning() {
  constexpr int first_with_warning = 21;
  const std::string version = jvm_property(jvmti_, "java.vm.specification.version");
  if (std::atoi(version.c_str()) < first_with_warning || std::exchange(explained_, true)) return;
  if (is_in_options_of_jvm("EnableDynamicAgentLoading")) return;
  say("pitrace has attached JProf, to name the methods of this JVM in a profile. The JVM's warning "
      "about an agent that was loaded dynamically means JProf and is expected. "
      "-XX:+EnableDynamicAgentLoading in the JVM's options turns the warning off");
}

// Waits for events in progress, which are short. If one does not end, the environment stays
// allocated, without events.
void Session::dispose() {
  using namespace std::chrono_literals;
  jvmtiEnv* const jvmti = jvmti_;
  if (!jvmti) return;
  (void)enable(JVMTI_DISABLE);
  jvmti_ = nullptr;
  for (int tries = 0; in_events_ != 0; ++tries) {
    if (tries == 5000) return;
    std::this_thread::sleep_for(1ms);
  }
  jvmti->DisposeEnvironment();
}

void Session::detach() {
  const std::lock_guard lock(control_);
  if (!active_) return;
  active_ = false;
  dispose();
  logs_.end(jit_log::end_detach);
  report("detached from the JVM; logs: " + logs_.summary(true));
  messages_.close();
}

// ---- events ----

void Session::on_vm_init(JNIEnv* jni, jthread thread) {
  InEvent::run(*this, [&](jvmtiEnv*) {
    if (mounts_) virtual_threads_.find_fields(jni);
    find_threads(jni, thread);
    request_existing_code();
  });
}

void Session::on_vm_death() {
  InEvent::run(*this, [&](jvmtiEnv*) {
    active_ = false;
    logs_.end(jit_log::end_exit);
    report("the JVM ends; logs: " + logs_.summary(true));
  });
}

void Session::request_existing_code() {
  if (!options_.jita2n) return;
  asked_at = logs_.now();
  for (const jvmtiEvent event :
       {JVMTI_EVENT_DYNAMIC_CODE_GENERATED, JVMTI_EVENT_COMPILED_METHOD_LOAD})
    if (jvmti_.load()->GenerateEvents(event) != JVMTI_ERROR_NONE)
      say("this JVM does not report the code that it compiled before JProf started");
  asked_at = 0;
}

void Session::on_compiled(jmethodID method, jint size, const void* address,
                          const void* compile_info) {
  if (size <= 0) return;
  InEvent::run(*this, [&](jvmtiEnv* jvmti) {
    const CodeEvent event{logs_.now(), asked_at, address, static_cast<uint32_t>(size)};
    const Inlining inlining = read_inlining(method, compile_info, address, event.size);
    const MethodFinder finder(vm_, jvmti);
    NameLogs::Facts facts;
    for (const jmethodID unknown : logs_.unknown_of(inlining))
      facts.emplace_back(unknown, finder.find(unknown));
    logs_.compiled(event, inlining, facts);
  });
}

void Session::on_unloaded(const void* address) {
  InEvent::run(*this, [&](jvmtiEnv*) { logs_.unloaded(logs_.now(), address); });
}

void Session::on_dynamic(const char* name, const void* address, jint size) {
  if (!is_generated(address, size)) return;
  InEvent::run(*this, [&](jvmtiEnv*) {
    logs_.dynamic({logs_.now(), asked_at, address, static_cast<uint32_t>(size)}, name ? name : "?");
  });
}

// ---- threads ----

std::optional<std::string> Session::name_of(jthread thread) {
  return thread_name(vm_, jvmti_, thread);
}

void Session::on_thread_start(jthread thread) {
  InEvent::run(*this, [&](jvmtiEnv*) {
    if (const auto name = name_of(thread)) logs_.thread_started(logs_.now(), own_tid(), *name);
  });
}

void Session::on_thread_end(jthread thread) {
  InEvent::run(*this, [&](jvmtiEnv*) {
    if (const auto name = name_of(thread)) logs_.thread_ended(logs_.now(), own_tid(), *name);
  });
}

// The time is taken first: the virtual thread runs here already.
void Session::on_mount(JNIEnv* jni, jthread thread) {
  InEvent::run(*this, [&](jvmtiEnv*) {
    const uint64_t time = logs_.now();
    logs_.mounted(time, own_tid(), virtual_threads_.name(jni, thread));
  });
}

void Session::on_unmount() {
  InEvent::run(*this, [&](jvmtiEnv*) { logs_.unmounted(logs_.now(), own_tid()); });
}

// Logs threads that started before their events were enabled. current: this thread, or null if it
// is not to be logged.
void Session::find_threads(JNIEnv* jni, jthread current) {
  if (!options_.thread_names) return;
  const auto ids = ThreadIds::of_this_jvm(jni);
  if (current)
    if (const auto name = name_of(current)) logs_.thread_found(logs_.now(), own_tid(), *name);
  if (!ids) {
    say("this JVM does not expose the ids of running threads: they are not in log-jtnm");
    return;
  }
  logs_.begin_finding_threads();
  jint count = 0;
  JvmtiMemory<jthread> threads(jvmti_);
  if (jvmti_.load()->GetAllThreads(&count, threads.place()) != JVMTI_ERROR_NONE) count = 0;
  for (jint i = 0; i < count; ++i) {
    const jthread thread = threads.get()[i];
    const auto tid = ids->find(jni, thread);
    const auto name = tid ? name_of(thread) : std::nullopt;
    if (name) logs_.thread_found(logs_.now(), *tid, *name);
    jni->DeleteLocalRef(thread);
  }
  logs_.end_finding_threads();
}

}  // namespace pi::jprof
