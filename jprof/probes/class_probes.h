// SPDX-License-Identifier: MIT
// Puts probes into all classes of a JVM: into those that are loaded already, and into each that is
// loaded.
#ifndef PI_JPROF_CLASS_PROBES_H
#define PI_JPROF_CLASS_PROBES_H

#include <jvmti.h>

#include <mutex>
#include <set>
#include <span>
#include <string>

#include <pi/result.h>

#include "probes/method_list.h"
#include "probes/transformer.h"

namespace pi::jprof {

class ClassProbes {
 public:
  static void add_capabilities(jvmtiCapabilities& capabilities);

  // When the JVM has initialised. The caller enables the event ClassFileLoadHook, which
  // on_class_file() handles, in between: after prepare() and before instrument_loaded().
  Status prepare(jvmtiEnv* jvmti, JNIEnv* jni, MethodList& methods, Purpose purpose);
  void instrument_loaded(jvmtiEnv* jvmti, JNIEnv* jni);
  // The class for train(), or null; after prepare().
  jclass define_trained(JNIEnv* jni, bool inlined) const {
    return transformer_.define_trained(jni, inlined);
  }

  // The event: a class is loaded, or redefined if that is not null. Sets the result in memory of
  // the JVM.
  void on_class_file(jvmtiEnv* jvmti, JNIEnv* jni, jclass redefined, jobject loader,
                     const char* name, std::span<const unsigned char> code, jint* new_size,
                     unsigned char** new_code);

  // Reports the loaded classes that have no probes.
  void list_unmodifiable(jvmtiEnv* jvmti, JNIEnv* jni);

 private:
  void retransform(jvmtiEnv* jvmti, std::span<const jclass> classes);

  MethodList* methods_ = nullptr;
  Purpose purpose_ = Purpose::calls;
  Transformer transformer_;
  std::mutex mutex_;
  std::set<std::string> later_;  // loaded by the transformer itself, as the JVM's signatures
};

}  // namespace pi::jprof

#endif  // PI_JPROF_CLASS_PROBES_H
