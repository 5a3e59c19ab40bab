// SPDX-License-Identifier: MIT
// The methods that a thread is running at its first event of a recording.
#include "probes/initial_frames.h"

#include <string>
#include <string_view>
#include <vector>

#include "methods.h"
#include "probes/method_events.h"
#include "probes/own_tree.h"

namespace pi::jprof {
namespace {

constexpr std::string_view probe_class = "java/lang/PitraceProbe.";
constexpr std::string_view entry_probe = "java/lang/PitraceProbe.enter(";

}  // namespace

void InitialFrames::prepare(JavaVM* vm, jvmtiEnv* jvmti, const MethodList& methods) {
  vm_ = vm;
  jvmti_ = jvmti;
  methods_ = &methods;
}

size_t InitialFrames::not_entered(std::span<const jvmtiFrameInfo> frames) const {
  if (frames.empty()) return 0;
  if (MethodEvents::is_entry()) return 1;
  const std::string top = MethodFinder(vm_, jvmti_).find(frames[0].method).name;
  if (!top.starts_with(probe_class)) return 0;
  return top.starts_with(entry_probe) && frames.size() > 1 ? 2 : 1;
}

// A method whose class got its probes after it was entered is obsolete: it ends without an event.
uint64_t InitialFrames::id_of(jmethodID method) const {
  jboolean obsolete = JNI_FALSE;
  if (jvmti_->IsMethodObsolete(method, &obsolete) != JVMTI_ERROR_NONE || obsolete) return 0;
  const uint32_t number = methods_->find(MethodFinder(vm_, jvmti_).find(method).name);
  return number == 0 ? 0 : id_of_method(number);
}

size_t InitialFrames::find(std::span<uint64_t> ids) const {
  // One element is for the agent's own work; a probe and its method are two more frames.
  std::vector<jvmtiFrameInfo> frames(ids.size() + 1);
  jint count = 0;
  if (jvmti_->GetStackTrace(nullptr, 0, static_cast<jint>(frames.size()), frames.data(), &count) !=
      JVMTI_ERROR_NONE)
    return 0;
  frames.resize(static_cast<size_t>(count));
  const size_t innermost = not_entered(frames);
  if (const size_t most = innermost + ids.size() - 1; frames.size() > most) frames.resize(most);
  size_t used = 0;
  for (size_t i = frames.size(); i-- > innermost;)
    if (const uint64_t id = id_of(frames[i].method)) ids[used++] = id;
  if (AgentWork::is_ending()) ids[used++] = agents_work;
  return used;
}

}  // namespace pi::jprof
