// SPDX-License-Identifier: MIT
// EVENTS=JVMTI: method entry and exit as events of the JVM, to compare the counts of probes with.
#include "probes/method_events.h"

#include "methods.h"
#include "probes/own_tree.h"

namespace pi::jprof {
namespace {

namespace callflow = pi::callflow;
using callflow::Transition;
using callflow::Type;

thread_local bool entering __attribute__((tls_model("initial-exec")));

constexpr jvmtiEvent events[] = {JVMTI_EVENT_METHOD_ENTRY, JVMTI_EVENT_METHOD_EXIT};

Type type_of(jvmtiEnv* jvmti, jmethodID method) {
  constexpr jint static_flag = 0x0008;  // of class files
  jint modifiers = 0;
  jboolean native = JNI_FALSE;
  (void)jvmti->GetMethodModifiers(method, &modifiers);
  (void)jvmti->IsMethodNative(method, &native);
  const bool is_static = (modifiers & static_flag) != 0;
  if (native) return is_static ? Type::native_static : Type::native;
  return is_static ? Type::interpreted_static : Type::interpreted;
}

}  // namespace

void MethodEvents::add_capabilities(jvmtiCapabilities& capabilities) {
  capabilities.can_generate_method_entry_events = 1;
  capabilities.can_generate_method_exit_events = 1;
}

void MethodEvents::prepare(JavaVM* vm, MethodList& methods) {
  vm_ = vm;
  methods_ = &methods;
}

bool MethodEvents::enable(jvmtiEnv* jvmti) {
  for (const jvmtiEvent event : events)
    if (jvmti->SetEventNotificationMode(JVMTI_ENABLE, event, nullptr) != JVMTI_ERROR_NONE)
      return false;
  return true;
}

MethodEvents::Known MethodEvents::find(jvmtiEnv* jvmti, jmethodID method) {
  {
    const std::lock_guard lock(mutex_);
    if (const auto found = known_.find(method); found != known_.end()) return found->second;
  }
  const std::string name = MethodFinder(vm_, jvmti).find(method).name;
  const std::lock_guard lock(mutex_);
  const auto [known, is_new] = known_.try_emplace(method);
  if (is_new) known->second = {methods_->add(name), type_of(jvmti, method)};
  return known->second;
}

void MethodEvents::on_entry(jvmtiEnv* jvmti, jmethodID method) {
  const Known known = find(jvmti, method);
  entering = true;
  callflow::enter(own_tree, id_of_method(known.number), known.type);
  entering = false;
}

bool MethodEvents::is_entry() {
  return entering;
}

void MethodEvents::on_exit(jvmtiEnv* jvmti, jmethodID method, bool by_exception) {
  const Known known = find(jvmti, method);
  callflow::leave(own_tree, id_of_method(known.number), known.type,
                  by_exception ? Transition::exit_by_exception : Transition::exit);
}

}  // namespace pi::jprof
