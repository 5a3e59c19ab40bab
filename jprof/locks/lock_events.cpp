// SPDX-License-Identifier: MIT
// The functions that the JVM calls for the events of the lock monitor: each passes its event to
// LockMonitor.
#include "locks/lock_events.h"

#include "locks/lock_monitor.h"

namespace pi::jprof {
namespace {

void JNICALL lock_vm_init(jvmtiEnv*, JNIEnv* jni, jthread) {
  LockMonitor::get().on_vm_init(jni);
}

void JNICALL lock_vm_death(jvmtiEnv*, JNIEnv* jni) {
  LockMonitor::get().on_vm_death(jni);
}

void JNICALL lock_class_file(jvmtiEnv*, JNIEnv* jni, jclass redefined, jobject loader,
                             const char* name, jobject, jint size, const unsigned char* code,
                             jint* new_size, unsigned char** new_code) {
  LockMonitor::get().on_class_file(jni, redefined, loader, name, {code, static_cast<size_t>(size)},
                                   new_size, new_code);
}

void JNICALL contended_entered(jvmtiEnv*, JNIEnv* jni, jthread, jobject object) {
  LockMonitor::get().on_contended_entered(jni, object);
}

void JNICALL gc_start(jvmtiEnv*) {
  LockMonitor::get().on_gc_start();
}

void JNICALL gc_finish(jvmtiEnv*) {
  LockMonitor::get().on_gc_finish();
}

}  // namespace

jvmtiEventCallbacks lock_callbacks() {
  jvmtiEventCallbacks callbacks{};
  callbacks.VMInit = lock_vm_init;
  callbacks.VMDeath = lock_vm_death;
  callbacks.ClassFileLoadHook = lock_class_file;
  callbacks.MonitorContendedEntered = contended_entered;
  callbacks.GarbageCollectionStart = gc_start;
  callbacks.GarbageCollectionFinish = gc_finish;
  return callbacks;
}

}  // namespace pi::jprof
