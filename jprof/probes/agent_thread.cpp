// SPDX-License-Identifier: MIT
// Threads of the agent.
#include "probes/agent_thread.h"

#include <engine.h>

#include "local_frame.h"
#include "probes/own_tree.h"
#include "return_codes.h"

namespace pi::jprof {
namespace {

thread_local callflow::Ignored* ignored = nullptr;

}  // namespace

bool is_agent_thread(std::string_view name) {
  return name == commands_thread || name == samples_thread;
}

Status start_agent_thread(jvmtiEnv* jvmti, JNIEnv* jni, const char* name, jvmtiStartFunction run,
                          void* argument) {
  const callflow::Ignored ignored(own_tree);
  const Error failure{no_events, "the JVM cannot start the thread '" + std::string(name) + "'"};
  constexpr jint references = 4;
  const LocalFrame frame(jni, references);
  if (!frame.good()) return failure;
  const jclass type = jni->FindClass("java/lang/Thread");
  const jmethodID create =
      type ? jni->GetMethodID(type, "<init>", "(Ljava/lang/String;)V") : nullptr;
  const jstring text = create ? jni->NewStringUTF(name) : nullptr;
  const jobject thread = text ? jni->NewObject(type, create, text) : nullptr;
  const bool good =
      thread && !jni->ExceptionCheck() &&
      jvmti->RunAgentThread(thread, run, argument, JVMTI_THREAD_NORM_PRIORITY) == JVMTI_ERROR_NONE;
  if (jni->ExceptionCheck()) jni->ExceptionClear();
  return good ? Status{} : failure;
}

void ignore_own_calls() {
  if (!ignored) ignored = new callflow::Ignored(own_tree);
}

bool ignores_own_calls() {
  return ignored != nullptr;
}

}  // namespace pi::jprof
