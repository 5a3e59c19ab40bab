// SPDX-License-Identifier: MIT
// The command server's thread in a JVM: what all recordings with commands share.
#include "probes/command_server.h"

#include <unistd.h>

#include <exception>
#include <utility>

#include <engine.h>

#include "messages.h"
#include "probes/own_tree.h"
#include "return_codes.h"

namespace pi::jprof {
namespace {

namespace callflow = pi::callflow;

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

}  // namespace

void CommandServer::start(jvmtiEnv* jvmti, JNIEnv* jni, const Options& options, Execute execute) {
  if (!options.server) return;
  jvmti_ = jvmti;
  execute_ = std::move(execute);
  Server::Settings settings;
  settings.pid = static_cast<uint32_t>(::getpid());
  settings.port = options.port;
  settings.log_commands = options.log_commands;
  auto started = server_.open(settings);
  if (started) started = run_thread(jni);
  if (started) {
    if (options.verbose) say("commands of rtdriver are accepted at " + description());
    return;
  }
  server_.close();
  say(without_dot(started.error().message) +
      ". No commands of rtdriver are accepted; the JVM continues");
}

// A thread of an agent is a daemon, and programs do not see it among their threads.
Status CommandServer::run_thread(JNIEnv* jni) {
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

void JNICALL CommandServer::serve(jvmtiEnv*, JNIEnv* jni, void* server) {
  // To the thread's end: the JVM executes Java code at the end, too.
  static thread_local callflow::Ignored* const ignored = new callflow::Ignored(own_tree);
  (void)ignored;
  auto* const self = static_cast<CommandServer*>(server);
  try {
    self->server_.run([=](const Command& command) { return self->execute(jni, command); });
  } catch (const std::exception& error) {
    self->server_.close();
    say(std::string("the command server ends: ") + error.what());
  }
}

Answer CommandServer::execute(JNIEnv* jni, const Command& command) const {
  constexpr jint references = 64;
  try {
    if (command.gc_first || command.verb == Verb::force_gc)
      if (jvmti_->ForceGarbageCollection() != JVMTI_ERROR_NONE)
        return failed("the JVM refuses to collect garbage");
    if (command.verb == Verb::force_gc) return {};
    if (command.verb == Verb::agent_help || command.verb == Verb::all_agent_help)
      return {true, options_help(command.verb == Verb::all_agent_help)};
    const LocalFrame frame(jni, references);
    return frame.good() ? execute_(jni, command) : failed("no memory");
  } catch (const std::exception& error) {
    return failed(std::string("'") + command.text + "' failed: " + error.what());
  }
}

Result<Options> with_log_names(const Options& options, const Command& command) {
  auto parsed = parse_options({command.option}, no_config, options);
  if (parsed.errors.empty()) return std::move(parsed.options);
  return Error{wrong_options, parsed.errors.front()};
}

}  // namespace pi::jprof
