// SPDX-License-Identifier: MIT
// Kernel ids of Java threads that started before JProf.
#include "thread_ids.h"

#include <fcntl.h>
#include <unistd.h>

#include <string>
#include <utility>

#include <pi/unique_fd.h>

#include "jvm_facts.h"
#include "jvmti_memory.h"
#include "vm_structs.h"

namespace pi::jprof {
namespace {

// Reads without faulting, also at an invalid address.
template <class T>
std::optional<T> read_safely(int memory, uint64_t address) {
  T value;
  if (::pread(memory, &value, sizeof value, static_cast<off_t>(address)) != sizeof value)
    return std::nullopt;
  return value;
}

}  // namespace

std::optional<ThreadIds> ThreadIds::of_this_jvm(JNIEnv* jni) {
  const auto tables = VmStructs::of_this_jvm();
  const auto os_thread = tables ? tables->offset_of("", "_osthread") : std::nullopt;
  const auto thread_id = tables ? tables->offset_of("", "_thread_id") : std::nullopt;
  if (!os_thread || !thread_id) return std::nullopt;
  ThreadIds ids;
  ids.os_thread_ = *os_thread;
  ids.thread_id_ = *thread_id;
  const jclass type = jni->FindClass("java/lang/Thread");
  if (type) {
    ids.native_thread_ = jni->GetFieldID(type, "eetop", "J");
    jni->DeleteLocalRef(type);
  }
  if (jni->ExceptionCheck()) jni->ExceptionClear();
  return ids.native_thread_ ? std::optional(ids) : std::nullopt;
}

// The thread may end, and its memory be freed, at any time. eetop becomes 0 before: if it has not
// changed after the read, the value read is valid.
std::optional<uint32_t> ThreadIds::find(JNIEnv* jni, jthread thread) const {
  const UniqueFd memory(::open("/proc/self/mem", O_RDONLY | O_CLOEXEC));
  const jlong native = jni->GetLongField(thread, native_thread_);
  if (!memory || native == 0) return std::nullopt;
  const auto os_thread =
      read_safely<uint64_t>(memory.get(), static_cast<uint64_t>(native) + os_thread_);
  if (!os_thread || *os_thread == 0) return std::nullopt;
  const auto id = read_safely<uint32_t>(memory.get(), *os_thread + thread_id_);
  if (!id || jni->GetLongField(thread, native_thread_) != native) return std::nullopt;
  const std::string task = "/proc/self/task/" + std::to_string(*id);
  return ::access(task.c_str(), F_OK) == 0 ? id : std::nullopt;
}

std::map<uint32_t, std::string> live_threads(JavaVM* vm, jvmtiEnv* jvmti, JNIEnv* jni) {
  std::map<uint32_t, std::string> names;
  jint count = 0;
  JvmtiMemory<jthread> threads(jvmti);
  const auto ids = ThreadIds::of_this_jvm(jni);
  if (!ids || jvmti->GetAllThreads(&count, threads.place()) != JVMTI_ERROR_NONE) count = 0;
  for (jint i = 0; i < count; ++i) {
    const jthread thread = threads.get()[i];
    const auto tid = ids->find(jni, thread);
    if (auto name = tid ? thread_name(vm, jvmti, thread) : std::nullopt)
      names[*tid] = std::move(*name);
    jni->DeleteLocalRef(thread);
  }
  return names;
}

}  // namespace pi::jprof
