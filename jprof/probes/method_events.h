// SPDX-License-Identifier: MIT
// EVENTS=JVMTI: method entry and exit as events of the JVM, to compare the counts of probes with.
#ifndef PI_JPROF_METHOD_EVENTS_H
#define PI_JPROF_METHOD_EVENTS_H

#include <jvmti.h>

#include <mutex>
#include <unordered_map>

#include <types.h>

#include "probes/method_list.h"

namespace pi::jprof {

// The JVM only interprets while these events are on, so a program is some hundred times slower.
class MethodEvents {
 public:
  static void add_capabilities(jvmtiCapabilities& capabilities);

  void prepare(JavaVM* vm, MethodList& methods);
  static bool enable(jvmtiEnv* jvmti);

  void on_entry(jvmtiEnv* jvmti, jmethodID method);
  void on_exit(jvmtiEnv* jvmti, jmethodID method, bool by_exception);
  // The calling thread is inside on_entry().
  static bool is_entry();

 private:
  struct Known {
    uint32_t number;
    pi::callflow::Type type;
  };

  Known find(jvmtiEnv* jvmti, jmethodID method);

  JavaVM* vm_ = nullptr;
  MethodList* methods_ = nullptr;
  std::mutex mutex_;
  std::unordered_map<jmethodID, Known> known_;
};

}  // namespace pi::jprof

#endif  // PI_JPROF_METHOD_EVENTS_H
