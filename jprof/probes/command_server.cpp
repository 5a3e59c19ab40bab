// SPDX-License-Identifier: MIT
// The command server's thread in a JVM: what all recordings with commands share.
#include "probes/command_server.h"

#include <unistd.h>

#include <exception>
#include <utility>

#include "local_frame.h"
#include "messages.h"
#include "probes/agent_thread.h"
#include "return_codes.h"

namespace pi::jprof {
namespace {

Result<std::string> no_config(const std::string&) {
  return Error{wrong_options, "a command cannot read options from a file"};
}

std::string without_dot(std::string text) {
  if (text.ends_with('.')) text.pop_back();
  return text;
}

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

Status CommandServer::run_thread(JNIEnv* jni) {
  return start_agent_thread(jvmti_, jni, commands_thread, serve, this);
}

void JNICALL CommandServer::serve(jvmtiEnv*, JNIEnv* jni, void* server) {
  ignore_own_calls();
  auto* const self = static_cast<CommandServer*>(server);
  try {
    self->server_.run([=](const Command& command) { return self->execute(jni, command); });
  } catch (const std::exception& error) {
    self->server_.close();
    say(std::string("the command server ends: ") + error.what());
  }
}

Answer CommandServer::execute(JNIEnv* jni, const Command& command) const {
  constexpr jint references = 64;  // local ones of a command: the thread lives as long as the JVM
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

Answer set_log_names(Options& options, CallLogs& logs, const Command& command) {
  auto changed = with_log_names(options, command);
  if (!changed) return failed(changed.error().message);
  const auto opened = logs.open(*changed);
  if (!opened) {
    (void)logs.open(options);
    return failed(opened.error().message);
  }
  options = std::move(*changed);
  return {true, "the next log: '" + logs.next() + "'"};
}

}  // namespace pi::jprof
