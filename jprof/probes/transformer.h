// SPDX-License-Identifier: MIT
// The Java transformer, which adds probes to class files, as seen from the agent.
#ifndef PI_JPROF_TRANSFORMER_H
#define PI_JPROF_TRANSFORMER_H

#include <jvmti.h>

#include <atomic>
#include <cstddef>
#include <span>

#include <pi/result.h>

#include "probes/method_list.h"

namespace pi::jprof {

// What probes are for.
enum class Purpose { calls, locks };

class Transformer {
 public:
  // Defines the probes' classes and the transformer. The JVM must be initialised. methods must
  // exist until the process ends.
  Status load(JNIEnv* jni, MethodList& methods, Purpose purpose);

  // True after load(), for class files of all loaders but the transformer's own.
  bool accepts(JNIEnv* jni, jobject loader) const;

  // Returns the class file with probes in memory of the JVM, or nothing if it stays as it is. To be
  // called as AgentWork.
  std::span<unsigned char> transform(jvmtiEnv* jvmti, JNIEnv* jni, const char* name,
                                     std::span<const unsigned char> code,
                                     bool may_add_methods) const;

  // Defines the class of methods for train(), in the transformer's class loader; inlined: the JVM
  // may inline them. Null after a Java exception, which is cleared.
  jclass define_trained(JNIEnv* jni, bool inlined) const;

 private:
  Purpose purpose_ = Purpose::calls;
  jobject loader_ = nullptr;
  jclass transformer_ = nullptr;
  std::atomic<jmethodID> transform_ = nullptr;  // written last
};

}  // namespace pi::jprof

#endif  // PI_JPROF_TRANSFORMER_H
