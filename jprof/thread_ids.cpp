// SPDX-License-Identifier: MIT
// Kernel ids of Java threads that started before JProf.
#include "thread_ids.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <unistd.h>

#include <cstring>
#include <string>
#include <string_view>

#include <pi/unique_fd.h>

namespace pi::jprof {
namespace {

// Reads a number or pointer that libjvm exports.
std::optional<uint64_t> exported(void* library, const char* name) {
  const void* place = ::dlsym(library, name);
  if (!place) return std::nullopt;
  uint64_t value;
  std::memcpy(&value, place, sizeof value);
  return value;
}

template <class T>
T load(uint64_t address) {
  T value;
  std::memcpy(&value, reinterpret_cast<const void*>(address), sizeof value);
  return value;
}

// HotSpot's table of its fields: entries of stride bytes, up to one without a type.
struct FieldTable {
  uint64_t entries, stride, type_name, field_name, is_static, offset;

  static std::optional<FieldTable> of(void* library) {
    const auto entries = exported(library, "gHotSpotVMStructs");
    const auto stride = exported(library, "gHotSpotVMStructEntryArrayStride");
    const auto type_name = exported(library, "gHotSpotVMStructEntryTypeNameOffset");
    const auto field_name = exported(library, "gHotSpotVMStructEntryFieldNameOffset");
    const auto is_static = exported(library, "gHotSpotVMStructEntryIsStaticOffset");
    const auto offset = exported(library, "gHotSpotVMStructEntryOffsetOffset");
    if (!entries || !*entries || !stride || !*stride || !type_name || !field_name || !is_static ||
        !offset)
      return std::nullopt;
    return FieldTable{*entries, *stride, *type_name, *field_name, *is_static, *offset};
  }

  std::optional<uint64_t> find(std::string_view field) const {
    for (uint64_t entry = entries;; entry += stride) {
      if (!load<const char*>(entry + type_name)) return std::nullopt;
      const char* name = load<const char*>(entry + field_name);
      if (name && name == field && load<int32_t>(entry + is_static) == 0)
        return load<uint64_t>(entry + offset);
    }
  }
};

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
  void* library = ::dlopen("libjvm.so", RTLD_LAZY | RTLD_NOLOAD);
  if (!library) return std::nullopt;
  const auto table = FieldTable::of(library);
  const auto os_thread = table ? table->find("_osthread") : std::nullopt;
  const auto thread_id = table ? table->find("_thread_id") : std::nullopt;
  ::dlclose(library);
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

}  // namespace pi::jprof
