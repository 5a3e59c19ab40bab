// SPDX-License-Identifier: MIT
// The entry points of libjprof.so: read the options and start or end the session.
#include <jvmti.h>

#include <cstdlib>
#include <cstring>
#include <exception>
#include <string>

#include <pi/files.h>

#include "heap_session.h"
#include "locks/lock_monitor.h"
#include "messages.h"
#include "options.h"
#include "probes/call_flow.h"
#include "return_codes.h"
#include "scs/sampler.h"
#include "session.h"

namespace pi::jprof {
namespace {

constexpr size_t config_bytes_max = 64 << 10;

// Reads a file of options. Non-blocking: the path may name a FIFO or a device.
Result<std::string> read_config(const std::string& path) {
  const auto failure = [&path](const std::string& why) {
    return Error{wrong_options, "cannot read CONFIG=" + path + ": " + why};
  };
  const auto file = open_regular(path);
  if (!file && file.error().code == not_regular) return failure("it is not a regular file");
  if (!file) return failure(file.error().message);
  auto text = read_whole(file->fd.get(), config_bytes_max + 1);
  if (!text) return failure(text.error().message);
  if (text->size() > config_bytes_max) return failure("it has more than 64 KB");
  return text;
}

std::string_view text_of(const char* text) {
  return text ? text : "";
}

// Prints the help that was requested and all errors. False if there are errors.
bool answer(const ParsedOptions& parsed) {
  const Options& options = parsed.options;
  if (options.version) print("JProf " JPROF_VERSION "\n");
  if (options.help || options.all_help) print(options_help(options.all_help));
  for (const auto& error : parsed.errors) say(error);
  return parsed.errors.empty();
}

void report_nothing_to_do(const Options& options) {
  if (!options.version && !options.help && !options.all_help)
    say("no option says what to record: nothing is recorded. Try TPROF, or HELP");
}

// 0: the JVM continues. Logs that cannot be written do not stop it, wrong options do.
int start_with_jvm(JavaVM* vm, const char* text) {
  // With another user's rights the environment is that of an attacker.
  const char* more = ::secure_getenv("JPROFOPTS");
  if (!more) more = ::secure_getenv("jprofopts");
  const auto parsed = parse_options({text_of(text), text_of(more)}, read_config);
  const bool good = answer(parsed);
  if (!good || parsed.options.detach) {
    if (good) say("DETACH cannot be used when a JVM starts: attach to the running JVM with it");
    say("wrong options: the JVM is stopped; the option HELP lists all");
    return JNI_ERR;
  }
  if (!parsed.options.records()) return report_nothing_to_do(parsed.options), JNI_OK;
  bool right = true;
  const auto start = [&](auto& session, auto... late) {
    const auto started = session.start(vm, parsed.options, late...);
    if (started) return;
    right = started.error().code != wrong_options;
    say(started.error().message +
        (right ? ". Nothing is recorded; the JVM continues"
               : ". Wrong options: the JVM is stopped; the option HELP lists all"));
  };
  if (parsed.options.records_calls()) start(CallFlow::get());
  if (parsed.options.records_locks()) start(LockMonitor::get());
  if (parsed.options.samples()) start(Sampler::get());
  if (parsed.options.heap_dump) start(HeapSession::get());
  if (right && parsed.options.records_names()) start(Session::get(), false);
  return right ? JNI_OK : JNI_ERR;
}

int attach(JavaVM* vm, const char* text) {
  const auto parsed = parse_options({text_of(text)}, read_config);
  if (!answer(parsed)) {
    say("wrong options: nothing is changed; the option HELP lists all");
    return wrong_options;
  }
  if (parsed.options.has_commands()) {
    say("CALLTREE, CALLFLOW, CALLTRACE, JLM, JLML and SCS can only be used when a JVM starts: "
        "nothing "
        "is changed");
    return wrong_options;
  }
  if (parsed.options.detach) return Session::get().detach(), JNI_OK;
  if (!parsed.options.records()) return report_nothing_to_do(parsed.options), JNI_OK;
  Status started;
  if (parsed.options.records_names()) started = Session::get().start(vm, parsed.options, true);
  if (started && parsed.options.heap_dump) started = HeapSession::dump_now(vm, parsed.options);
  if (started) return JNI_OK;
  say(started.error().message + ". Nothing is changed; the JVM continues");
  return started.error().code;
}

}  // namespace
}  // namespace pi::jprof

using pi::jprof::say;

extern "C" {

JNIEXPORT jint JNICALL Agent_OnLoad(JavaVM* vm, char* options, void*) {
  try {
    return pi::jprof::start_with_jvm(vm, options);
  } catch (const std::exception& error) {
    say(std::string("cannot start: ") + error.what());
    return JNI_ERR;
  }
}

JNIEXPORT jint JNICALL Agent_OnAttach(JavaVM* vm, char* options, void*) {
  try {
    return pi::jprof::attach(vm, options);
  } catch (const std::exception& error) {
    say(std::string("cannot start: ") + error.what());
    return JNI_ERR;
  }
}

// -Xrun: the interface of Java 1.2 to 1.4. Without this function a current JVM would start JProf as
// an agent.
JNIEXPORT jint JNICALL JVM_OnLoad(JavaVM*, char* options, void*) {
  const std::string text = options ? options : "";
  say("-Xrunjprof is the form of Java 1.2 to 1.4. Use -agentlib:jprof" +
      (text.empty() ? "" : "=" + text) + ", or -agentpath:DIR/libjprof.so" +
      (text.empty() ? "" : "=" + text));
  return JNI_ERR;
}
}
