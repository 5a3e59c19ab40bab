// SPDX-License-Identifier: MIT
// Names, source files and lines of methods, and the numbers that they have in log-jita2n.
#include "methods.h"

#include <functional>
#include <string_view>

#include <pi/java_text.h>

#include "jvmti_memory.h"

namespace pi::jprof {
namespace {

// "Ljava/lang/String;" becomes "java/lang/String"; a signature of no class (an array's clone())
// stays.
std::string_view without_frame(std::string_view signature) {
  const bool framed = signature.size() > 2 && signature.front() == 'L' && signature.back() == ';';
  return framed ? signature.substr(1, signature.size() - 2) : signature;
}

size_t hash_of(const MethodFacts& facts) {
  size_t hash = std::hash<std::string>{}(facts.name);
  const auto add = [&hash](size_t value) { hash = (hash ^ value) * 0x100000001b3; };
  add(std::hash<std::string>{}(facts.file));
  for (const auto& [bci, line] : facts.lines) add(size_t{bci} << 32 | line);
  return hash;
}

}  // namespace

std::string MethodFinder::class_name(jclass owner, MethodFacts& facts) const {
  JvmtiMemory<char> signature(jvmti_), file(jvmti_);
  if (jvmti_->GetSourceFileName(owner, file.place()) == JVMTI_ERROR_NONE) facts.file = file.get();
  if (jvmti_->GetClassSignature(owner, signature.place(), nullptr) != JVMTI_ERROR_NONE) return "?";
  return std::string(without_frame(signature.get()));
}

void MethodFinder::find_lines(jmethodID method, MethodFacts& facts) const {
  jint count = 0;
  JvmtiMemory<jvmtiLineNumberEntry> table(jvmti_);
  if (jvmti_->GetLineNumberTable(method, &count, table.place()) != JVMTI_ERROR_NONE) return;
  facts.lines.reserve(static_cast<size_t>(count));
  for (jint i = 0; i < count; ++i)
    facts.lines.emplace_back(static_cast<uint32_t>(table.get()[i].start_location),
                             static_cast<uint32_t>(table.get()[i].line_number));
}

MethodFacts MethodFinder::find(jmethodID method) const {
  MethodFacts facts{"?", "", {}};
  JvmtiMemory<char> name(jvmti_), signature(jvmti_);
  if (jvmti_->GetMethodName(method, name.place(), signature.place(), nullptr) != JVMTI_ERROR_NONE)
    return facts;
  jclass owner = nullptr;
  std::string owner_name;
  if (jvmti_->GetMethodDeclaringClass(method, &owner) == JVMTI_ERROR_NONE) {
    owner_name = class_name(owner, facts);
    void* jni = nullptr;
    if (vm_->GetEnv(&jni, JNI_VERSION_1_6) == JNI_OK)
      static_cast<JNIEnv*>(jni)->DeleteLocalRef(owner);
  }
  facts.name = java_method_name(owner_name, name.get(), signature.get());
  find_lines(method, facts);
  return facts;
}

uint32_t MethodNumbers::number_of(jmethodID method, const MethodFacts& facts, std::string& text) {
  const size_t hash = hash_of(facts);
  const auto [entry, is_new] = known_.try_emplace(method, Known{0, hash});
  if (is_new || entry->second.facts != hash) {
    entry->second = {++last_, hash};
    append_method(text, last_, facts.file, facts.name, facts.lines);
  }
  return entry->second.number;
}

void MethodNumbers::clear() {
  known_.clear();
  last_ = 0;
}

}  // namespace pi::jprof
