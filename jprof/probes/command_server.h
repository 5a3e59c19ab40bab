// SPDX-License-Identifier: MIT
// The command server's thread in a JVM: what all recordings with commands share.
#ifndef PI_JPROF_COMMAND_SERVER_H
#define PI_JPROF_COMMAND_SERVER_H

#include <jvmti.h>

#include <functional>
#include <string>

#include <pi/result.h>

#include "options.h"
#include "probes/call_logs.h"
#include "server/server.h"

namespace pi::jprof {

class CommandServer {
 public:
  // Executes a command in the server's thread; a local frame has room for references.
  using Execute = std::function<Answer(JNIEnv* jni, const Command& command)>;

  // If the options want it. Errors are reported to stderr: the JVM continues without commands. The
  // object must exist until the process ends.
  void start(jvmtiEnv* jvmti, JNIEnv* jni, const Options& options, Execute execute);
  // From another thread.
  void stop() { server_.stop(); }
  // The socket and the port, for messages.
  std::string description() const { return server_.description(); }

 private:
  Status run_thread(JNIEnv* jni);
  static void JNICALL serve(jvmtiEnv* jvmti, JNIEnv* jni, void* server);
  Answer execute(JNIEnv* jni, const Command& command) const;

  jvmtiEnv* jvmti_ = nullptr;
  Execute execute_;
  Server server_;
};

// The options with what LOGPATH= and so on of a command change; the error is a sentence.
Result<Options> with_log_names(const Options& options, const Command& command);
// The same for the next logs of a recording, which are opened so that errors are seen early.
Answer set_log_names(Options& options, CallLogs& logs, const Command& command);

}  // namespace pi::jprof

#endif  // PI_JPROF_COMMAND_SERVER_H
