// SPDX-License-Identifier: MIT
// Names, source files and lines of methods, and the numbers that they have in log-jita2n.
#ifndef PI_JPROF_METHODS_H
#define PI_JPROF_METHODS_H

#include <jvmti.h>

#include <cstdint>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "log_text.h"

namespace pi::jprof {

struct MethodFacts {
  std::string name;  // class.method(arguments)result
  std::string file;  // or empty
  LineTable lines;   // or empty
};

// Calls the JVM: do not hold a lock here that the JVM's own threads could wait for.
class MethodFinder {
 public:
  MethodFinder(JavaVM* vm, jvmtiEnv* jvmti) : vm_(vm), jvmti_(jvmti) {}
  // Facts that the JVM does not return are left empty; the name is then "?".
  MethodFacts find(jmethodID method) const;

 private:
  std::string class_name(jclass owner, MethodFacts& facts) const;
  void find_lines(jmethodID method, MethodFacts& facts) const;

  JavaVM* vm_;
  jvmtiEnv* jvmti_;
};

// Not thread-safe.
class MethodNumbers {
 public:
  bool knows(jmethodID method) const { return known_.contains(method); }
  // The method's number. A new method, or one whose facts have changed (its class was redefined),
  // gets a new number, and its definition is appended to the text.
  uint32_t number_of(jmethodID method, const MethodFacts& facts, std::string& text);
  // The number of a method that knows() contains.
  uint32_t number_of(jmethodID method) const { return known_.at(method).number; }
  // Definitions appended last may not have been written: all methods get new numbers.
  void forget() { known_.clear(); }
  // Restarts the numbers.
  void clear();

 private:
  struct Known {
    uint32_t number;
    size_t facts;  // their hash
  };

  std::unordered_map<jmethodID, Known> known_;
  uint32_t last_ = 0;
};

}  // namespace pi::jprof

#endif  // PI_JPROF_METHODS_H
