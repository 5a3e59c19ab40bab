// SPDX-License-Identifier: MIT
// How often threads were blocked by each monitor, from the JVM's events.
#include "locks/contended_gets.h"

#include <algorithm>
#include <string>
#include <string_view>

#include "jvmti_memory.h"
#include "log_text.h"
#include "probes/own_tree.h"

namespace pi::jprof {
namespace {

constexpr size_t monitors_max = 1 << 16;

enum class Caller { java, native, wait };

// The method that enters the monitor. After a wait the thread enters it again, which is no get.
Caller caller(jvmtiEnv* jvmti) {
  jmethodID method = nullptr;
  jlocation location = 0;
  jboolean native = JNI_FALSE;
  if (jvmti->GetFrameLocation(nullptr, 0, &method, &location) != JVMTI_ERROR_NONE)
    return Caller::native;
  if (jvmti->IsMethodNative(method, &native) != JVMTI_ERROR_NONE || native == JNI_FALSE)
    return Caller::java;
  JvmtiMemory<char> name(jvmti);
  (void)jvmti->GetMethodName(method, name.place(), nullptr, nullptr);
  const std::string_view text = name.get() ? name.get() : "";
  return text == "wait" || text == "wait0" ? Caller::wait : Caller::native;
}

// The form of Class.getName().
std::string name_of(std::string signature) {
  std::replace(signature.begin(), signature.end(), '/', '.');
  if (!signature.starts_with('L')) return signature;
  return signature.substr(1, signature.size() - 2);
}

std::string signature_of(jvmtiEnv* jvmti, jclass type) {
  JvmtiMemory<char> signature(jvmti);
  (void)jvmti->GetClassSignature(type, signature.place(), nullptr);
  return signature.get() ? signature.get() : "";
}

// The name of an object's class, as PitraceLocks has it.
std::string class_name(jvmtiEnv* jvmti, JNIEnv* jni, jobject object) {
  const jclass type = jni->GetObjectClass(object);
  std::string name = name_of(signature_of(jvmti, type));
  jni->DeleteLocalRef(type);
  if (name == "java.lang.Class")
    name = name_of(signature_of(jvmti, static_cast<jclass>(object))) + ".class";
  return log_name(name);
}

}  // namespace

void ContendedGets::on_entered(jvmtiEnv* jvmti, JNIEnv* jni, jobject object) {
  if (AgentWork::is_running()) return;
  const Caller by = caller(jvmti);
  jint hash = 0;
  if (by == Caller::wait || jvmti->GetObjectHashCode(object, &hash) != JVMTI_ERROR_NONE) return;
  const std::pair key(static_cast<uint32_t>(hash), by == Caller::java);
  {
    const std::lock_guard lock(mutex_);
    if (const auto known = counts_.find(key); known != counts_.end())
      return void(++known->second.count);
  }
  const std::string name = class_name(jvmti, jni, object);
  if (name.find("java.lang.Pitrace") != name.npos) return;
  const std::lock_guard lock(mutex_);
  const bool listed = counts_.size() < monitors_max;
  auto& place = listed ? counts_[key] : more_[name];
  if (place.count++ == 0) place = {name, listed ? key.first : 0, 1, listed ? key.second : true};
}

void ContendedGets::reset() {
  const std::lock_guard lock(mutex_);
  counts_.clear();
  more_.clear();
}

std::vector<ContendedCount> ContendedGets::counts() const {
  const std::lock_guard lock(mutex_);
  std::vector<ContendedCount> all;
  for (const auto& [key, counted] : counts_) all.push_back(counted);
  for (const auto& [name, counted] : more_) all.push_back(counted);
  return all;
}

}  // namespace pi::jprof
