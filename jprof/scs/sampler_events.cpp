// SPDX-License-Identifier: MIT
// The functions that the JVM calls for the events of call-stack sampling: each passes its event to
// Sampler.
#include "scs/sampler_events.h"

#include "scs/sampler.h"

namespace pi::jprof {
namespace {

void JNICALL vm_init(jvmtiEnv*, JNIEnv* jni, jthread) {
  Sampler::get().on_vm_init(jni);
}

void JNICALL vm_death(jvmtiEnv*, JNIEnv* jni) {
  Sampler::get().on_vm_death(jni);
}

void JNICALL thread_start(jvmtiEnv*, JNIEnv*, jthread thread) {
  Sampler::get().on_thread_start(thread);
}

void JNICALL thread_end(jvmtiEnv*, JNIEnv*, jthread thread) {
  Sampler::get().on_thread_end(thread);
}

// HotSpot's AsyncGetCallTrace only works while this event is enabled.
void JNICALL class_load(jvmtiEnv*, JNIEnv*, jthread, jclass type) {
  Sampler::get().on_class_load(type);
}

void JNICALL monitor_wait(jvmtiEnv*, JNIEnv* jni, jthread, jobject object, jlong) {
  Sampler::get().on_monitor(jni, object);
}

void JNICALL monitor_waited(jvmtiEnv*, JNIEnv* jni, jthread, jobject object, jboolean) {
  Sampler::get().on_monitor(jni, object);
}

void JNICALL contended(jvmtiEnv*, JNIEnv* jni, jthread, jobject object) {
  Sampler::get().on_monitor(jni, object);
}

void JNICALL allocated(jvmtiEnv*, JNIEnv*, jthread, jobject, jclass type, jlong bytes) {
  Sampler::get().on_allocation(type, bytes);
}

void JNICALL class_prepare(jvmtiEnv*, JNIEnv*, jthread, jclass type) {
  Sampler::get().on_class_prepare(type);
}

// While this event is enabled, HotSpot's compilers record more places of inlined methods.
void JNICALL compiled_method_load(jvmtiEnv*, jmethodID, jint, const void*, jint,
                                  const jvmtiAddrLocationMap*, const void*) {}

}  // namespace

jvmtiEventCallbacks sampler_callbacks() {
  jvmtiEventCallbacks callbacks{};
  callbacks.VMInit = vm_init;
  callbacks.VMDeath = vm_death;
  callbacks.ThreadStart = thread_start;
  callbacks.ThreadEnd = thread_end;
  callbacks.ClassLoad = class_load;
  callbacks.ClassPrepare = class_prepare;
  callbacks.MonitorWait = monitor_wait;
  callbacks.MonitorWaited = monitor_waited;
  callbacks.MonitorContendedEnter = contended;
  callbacks.MonitorContendedEntered = contended;
  callbacks.SampledObjectAlloc = allocated;
  callbacks.CompiledMethodLoad = compiled_method_load;
  return callbacks;
}

}  // namespace pi::jprof
