// SPDX-License-Identifier: MIT
// Native method: a command for JProf in this or another Java virtual machine.
#include <perfutil.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstdint>
#include <string>

#include <pi/printable.h>

#include "connection.h"
#include "java_values.h"
#include "jvms.h"

namespace pi::jperf {
namespace {

constexpr std::chrono::milliseconds patience{120'000};  // as rtdriver

// Sockets may remain of an ended process with the same id.
Result<rtdriver::Connection> connect_to(uint32_t pid) {
  const auto directories = rtdriver::socket_directories();
  if (!directories) return directories.error();
  Error error{PU_ERROR_NOT_INITIALIZED,
              "Process " + std::to_string(pid) +
                  " accepts no commands: it is no Java virtual machine with CALLTREE, CALLFLOW, "
                  "JLM or HD of JProf, or it belongs to another user."};
  for (const auto& socket : rtdriver::sockets_of(rtdriver::find_sockets(*directories), pid)) {
    auto connection = rtdriver::Connection::to_socket(socket);
    if (connection) return connection;
    error.message = connection.error().message;
  }
  return error;
}

Result<std::string> send(uint32_t pid, const std::string& command) {
  const auto connection = connect_to(pid);
  if (!connection) return Error{PU_ERROR_NOT_INITIALIZED, connection.error().message};
  if (const auto sent = connection->send("," + command); !sent)
    return Error{PU_FAILURE, sent.error().message};
  const auto answer = connection->receive(Deadline(patience));
  if (!answer) return Error{PU_FAILURE, answer.error().message};
  const std::string text = printable(answer->text, "\n");
  if (answer->done) return text;
  return Error{PU_FAILURE, "JProf has not done '" + printable(command) + "'" +
                               (text.empty() ? "." : ": " + text)};
}

jstring command(JNIEnv* env, jclass, jint pid, jstring text) {
  const auto words = text_of(env, text);
  if (env->ExceptionCheck()) return nullptr;
  const auto answer = send(static_cast<uint32_t>(pid == 0 ? ::getpid() : pid), words.value_or(""));
  if (answer) return java_text(env, *answer);
  raise(env, answer.error().code, answer.error().message);
  return nullptr;
}

}  // namespace

std::span<const JNINativeMethod> command_methods() {
  static const std::array methods = {
      method("command", "(ILjava/lang/String;)Ljava/lang/String;", command)};
  return methods;
}

}  // namespace pi::jperf
