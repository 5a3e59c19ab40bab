// SPDX-License-Identifier: MIT
// The functions that the JVM calls for the events of call flow: each passes its event to CallFlow.
#include "probes/call_flow_events.h"

#include "probes/call_flow.h"

namespace pi::jprof {
namespace {

void JNICALL vm_init(jvmtiEnv*, JNIEnv* jni, jthread) {
  CallFlow::get().on_vm_init(jni);
}

void JNICALL vm_death(jvmtiEnv*, JNIEnv* jni) {
  CallFlow::get().on_vm_death(jni);
}

void JNICALL thread_end(jvmtiEnv*, JNIEnv*, jthread thread) {
  CallFlow::get().on_thread_end(thread);
}

void JNICALL dynamic_code_generated(jvmtiEnv*, const char* name, const void* address, jint size) {
  CallFlow::get().on_dynamic_code(name, address, size);
}

void JNICALL class_file_load(jvmtiEnv*, JNIEnv* jni, jclass redefined, jobject loader,
                             const char* name, jobject, jint size, const unsigned char* code,
                             jint* new_size, unsigned char** new_code) {
  CallFlow::get().on_class_file(jni, redefined, loader, name, {code, static_cast<size_t>(size)},
                                new_size, new_code);
}

void JNICALL method_entry(jvmtiEnv*, JNIEnv*, jthread, jmethodID method) {
  CallFlow::get().on_method_entry(method);
}

void JNICALL method_exit(jvmtiEnv*, JNIEnv*, jthread, jmethodID method, jboolean by_exception,
                         jvalue) {
  CallFlow::get().on_method_exit(method, by_exception == JNI_TRUE);
}

void JNICALL allocated(jvmtiEnv*, JNIEnv*, jthread, jobject object, jclass, jlong bytes) {
  CallFlow::get().on_allocation(object, bytes);
}

void JNICALL native_method_bind(jvmtiEnv*, JNIEnv*, jthread, jmethodID, void*, void**) {
  CallFlow::get().on_native_bind();
}

}  // namespace

jvmtiEventCallbacks call_flow_callbacks() {
  jvmtiEventCallbacks callbacks{};
  callbacks.VMInit = vm_init;
  callbacks.VMDeath = vm_death;
  callbacks.ThreadEnd = thread_end;
  callbacks.DynamicCodeGenerated = dynamic_code_generated;
  callbacks.ClassFileLoadHook = class_file_load;
  callbacks.MethodEntry = method_entry;
  callbacks.MethodExit = method_exit;
  callbacks.SampledObjectAlloc = allocated;
  callbacks.NativeMethodBind = native_method_bind;
  return callbacks;
}

void JNICALL call_flow_mount(jvmtiEnv*, ...) {
  CallFlow::get().on_mount();
}

void JNICALL call_flow_unmount(jvmtiEnv*, ...) {
  CallFlow::get().on_unmount();
}

}  // namespace pi::jprof
