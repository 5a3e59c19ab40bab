// SPDX-License-Identifier: MIT
// The functions that the JVM calls for its events: each passes its event to the session.
#include "events.h"

#include <cstdarg>

#include "session.h"

namespace pi::jprof {
namespace {

void JNICALL vm_init(jvmtiEnv*, JNIEnv* jni, jthread thread) {
  Session::get().on_vm_init(jni, thread);
}

void JNICALL vm_death(jvmtiEnv*, JNIEnv*) {
  Session::get().on_vm_death();
}

// The map of addresses to bytecodes is not used: the compile record contains the same and more.
void JNICALL compiled_method_load(jvmtiEnv*, jmethodID method, jint size, const void* address, jint,
                                  const jvmtiAddrLocationMap*, const void* compile_info) {
  Session::get().on_compiled(method, size, address, compile_info);
}

// The method may be unloaded already: its id must not be used.
void JNICALL compiled_method_unload(jvmtiEnv*, jmethodID, const void* address) {
  Session::get().on_unloaded(address);
}

void JNICALL dynamic_code_generated(jvmtiEnv*, const char* name, const void* address, jint size) {
  Session::get().on_dynamic(name, address, size);
}

void JNICALL thread_start(jvmtiEnv*, JNIEnv*, jthread thread) {
  Session::get().on_thread_start(thread);
}

void JNICALL thread_end(jvmtiEnv*, JNIEnv*, jthread thread) {
  Session::get().on_thread_end(thread);
}

// Extension events have the arguments (JNIEnv*, jthread).
void JNICALL virtual_thread_mount(jvmtiEnv* jvmti, ...) {
  std::va_list arguments;
  va_start(arguments, jvmti);
  auto* const jni = va_arg(arguments, JNIEnv*);
  const auto thread = va_arg(arguments, jthread);
  va_end(arguments);
  Session::get().on_mount(jni, thread);
}

void JNICALL virtual_thread_unmount(jvmtiEnv*, ...) {
  Session::get().on_unmount();
}

}  // namespace

jvmtiEventCallbacks event_callbacks() {
  jvmtiEventCallbacks callbacks{};
  callbacks.VMInit = vm_init;
  callbacks.VMDeath = vm_death;
  callbacks.CompiledMethodLoad = compiled_method_load;
  callbacks.CompiledMethodUnload = compiled_method_unload;
  callbacks.DynamicCodeGenerated = dynamic_code_generated;
  callbacks.ThreadStart = thread_start;
  callbacks.ThreadEnd = thread_end;
  return callbacks;
}

jvmtiExtensionEvent mount_callback() {
  return virtual_thread_mount;
}

jvmtiExtensionEvent unmount_callback() {
  return virtual_thread_unmount;
}

}  // namespace pi::jprof
