// SPDX-License-Identifier: MIT
// The commands of rtdriver in a JVM: the command server's thread, and what each command does.
#include <unistd.h>

#include <exception>

#include "messages.h"
#include "options.h"
#include "probes/call_flow.h"
#include "probes/own_tree.h"
#include "return_codes.h"

namespace pi::jprof {
namespace {

namespace callflow = pi::callflow;

Answer failed(const std::string& why) {
  return {false, why};
}

Result<std::string> no_config(const std::string&) {
  return Error{wrong_options, "a command cannot read options from a file"};
}

std::string without_dot(std::string text) {
  if (text.ends_with('.')) text.pop_back();
  return text;
}

// Local references of one command: the thread lives as long as the JVM.
class LocalFrame {
 public:
  LocalFrame(JNIEnv* jni, jint references)
      : jni_(jni), good_(jni->PushLocalFrame(references) == JNI_OK) {
    if (!good_) jni_->ExceptionClear();
  }
  ~LocalFrame() {
    if (good_) jni_->PopLocalFrame(nullptr);
  }
  LocalFrame(const LocalFrame&) = delete;
  LocalFrame& operator=(const LocalFrame&) = delete;
  bool good() const { return good_; }

 private:
  JNIEnv* const jni_;
  const bool good_;
};

constexpr const char* nothing_recorded = "nothing is recorded; START begins a recording";

}  // namespace

// ---- the server's thread ----

void CallFlow::start_server(JNIEnv* jni) {
  if (!options_.server) return;
  Server::Settings settings;
  settings.pid = static_cast<uint32_t>(::getpid());
  settings.port = options_.port;
  settings.log_commands = options_.log_commands;
  auto started = server_.open(settings);
  if (started) started = run_agent_thread(jni);
  if (started) return report("commands of rtdriver are accepted at " + server_.description());
  server_.close();
  say(without_dot(started.error().message) +
      ". No commands of rtdriver are accepted; the JVM continues");
}

// A thread of an agent is a daemon, and programs do not see it among their threads.
Status CallFlow::run_agent_thread(JNIEnv* jni) {
  const callflow::Ignored ignored(own_tree);
  const Error failure{no_events, "the JVM cannot start a thread for commands"};
  constexpr jint references = 4;
  if (jni->PushLocalFrame(references) != JNI_OK) return jni->ExceptionClear(), failure;
  const jclass type = jni->FindClass("java/lang/Thread");
  const jmethodID create =
      type ? jni->GetMethodID(type, "<init>", "(Ljava/lang/String;)V") : nullptr;
  const jstring name = create ? jni->NewStringUTF("JProf commands") : nullptr;
  const jobject thread = name ? jni->NewObject(type, create, name) : nullptr;
  bool good = thread && !jni->ExceptionCheck();
  if (good)
    good =
        jvmti_->RunAgentThread(thread, serve, this, JVMTI_THREAD_NORM_PRIORITY) == JVMTI_ERROR_NONE;
  if (jni->ExceptionCheck()) jni->ExceptionClear();
  jni->PopLocalFrame(nullptr);
  return good ? Status{} : failure;
}

void JNICALL CallFlow::serve(jvmtiEnv*, JNIEnv* jni, void* call_flow) {
  // To the thread's end: the JVM executes Java code at the end, too.
  static thread_local callflow::Ignored* const ignored = new callflow::Ignored(own_tree);
  (void)ignored;
  auto* const self = static_cast<CallFlow*>(call_flow);
  try {
    self->server_.run([=](const Command& command) { return self->execute(jni, command); });
  } catch (const std::exception& error) {
    self->server_.close();
    say(std::string("the command server ends: ") + error.what());
  }
}

// ---- commands ----

Answer CallFlow::execute(JNIEnv* jni, const Command& command) {
  constexpr jint references = 64;
  try {
    if (command.gc_first || command.verb == Verb::force_gc)
      if (jvmti_->ForceGarbageCollection() != JVMTI_ERROR_NONE)
        return failed("the JVM refuses to collect garbage");
    if (command.verb == Verb::force_gc) return {};
    const LocalFrame frame(jni, references);
    if (!frame.good()) return failed("no memory");
    const std::lock_guard lock(control_);
    return ended_ ? failed("the JVM ends") : execute_locked(jni, command);
  } catch (const std::exception& error) {
    return failed(std::string("'") + command.text + "' failed: " + error.what());
  }
}

Answer CallFlow::execute_locked(JNIEnv* jni, const Command& command) {
  switch (command.verb) {
    case Verb::start:
      if (callflow::is_recording()) return {true, "calls are recorded already"};
      if (const auto started = start_recording(); !started) return failed(started.error().message);
      return {true, "calls are recorded"};
    case Verb::stop:
      return has_counts_ ? stop(jni) : failed(nothing_recorded);
    case Verb::flush:
      if (!has_counts_) return failed(nothing_recorded);
      if (has_all_events()) return failed("log-gen is written when the recording ends; use STOP");
      if (const auto written = write_logs(jni); !written) return failed(written.error().message);
      return {true, "written: '" + logs_.last() + "'"};
    case Verb::reset:
      if (!has_counts_) return failed(nothing_recorded);
      if (has_all_events())
        return failed(
            "log-gen has all events since the start of the recording; use STOP and START");
      callflow::reset();
      has_counts_ = callflow::is_recording();
      return {true, "all counts are 0"};
    case Verb::shutdown:
      if (!has_counts_) return {true, "no more commands are accepted"};
      return stop(jni);
    case Verb::info:
      return {true, info()};
    case Verb::agent_help:
    case Verb::all_agent_help:
      return {true, options_help(command.verb == Verb::all_agent_help)};
    case Verb::verbose:
      options_.verbose = true;
      return {true, "JProf reports on the JVM's stderr"};
    case Verb::log_names:
      return set_log_names(command);
    default:
      return failed("'" + command.text + "' is no command of JProf; try HELP");
  }
}

// While log-gen is recorded, its file cannot be written or emptied.
bool CallFlow::has_all_events() const {
  return options_.call_trace && callflow::is_recording();
}

// Counts that cannot be written are kept, so that FLUSH can be tried again with another LOGPATH.
Answer CallFlow::stop(JNIEnv* jni) {
  callflow::stop();
  if (const auto written = write_logs(jni); !written)
    return failed(written.error().message +
                  ". The recording has ended, and its counts are kept: use FLUSH again, after "
                  "LOGPATH=DIR or when the problem is solved");
  callflow::reset();
  has_counts_ = false;
  report("the recording has ended; log: '" + logs_.last() + "'");
  return {true, "written: '" + logs_.last() + "'"};
}

Answer CallFlow::set_log_names(const Command& command) {
  const auto parsed = parse_options({command.option}, no_config, options_);
  if (!parsed.errors.empty()) return failed(parsed.errors.front());
  const auto opened = logs_.open(parsed.options);
  if (!opened) {
    (void)logs_.open(options_);
    return failed(opened.error().message);
  }
  options_ = parsed.options;
  return {true, "the next log: '" + logs_.next() + "'"};
}

std::string CallFlow::info() const {
  std::string text = "JProf " JPROF_VERSION " in process " + std::to_string(::getpid());
  const bool recording = callflow::is_recording();
  text += recording     ? "\ncalls: recorded"
          : has_counts_ ? "\ncalls: not recorded; counts that could not be written are kept"
                        : "\ncalls: not recorded";
  text += "\nmetrics:";
  for (const auto& metric : settings_.meter.metrics) text += " " + metric.name;
  if (settings_.meter.metrics.empty())
    text += " none";
  else
    text += calibration_.on ? ", calibrated" : ", not calibrated";
  text += "\nlogs written: " + std::to_string(logs_.written());
  if (logs_.written() > 0) text += "; the last: '" + logs_.last() + "'";
  return text + "\ncommands: " + server_.description();
}

}  // namespace pi::jprof
