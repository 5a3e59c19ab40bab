// SPDX-License-Identifier: MIT
// Room on the stack for the probes of a method's exit.
#include "probes/stack_room.h"

#include <pthread.h>

#include <cstddef>
#include <string_view>

#include "jvm_flags.h"
#include "probes/own_tree.h"

namespace pi::jprof {
namespace {

constexpr uintptr_t unknown = UINTPTR_MAX;

// From the entry to the exit of a method its frame can grow: compiled code is replaced by
// interpreted code.
constexpr size_t margin = 16'384;

jclass error_class = nullptr;

// What HotSpot keeps free at the end of each thread's stack. The options count pages of 4 KB.
size_t reserved_by_jvm() {
  constexpr int64_t page = 4096;
  constexpr int64_t most_pages = 1024;
  int64_t pages = 0;
  for (const std::string_view option :
       {"StackShadowPages", "StackRedPages", "StackYellowPages", "StackReservedPages"})
    pages += jvm_number(option).value_or(0);
  return pages > 0 && pages <= most_pages ? static_cast<size_t>(pages * page) : 0;
}

// 0 if it cannot be found: then no entry is refused.
uintptr_t find_lowest_entry() {
  static const size_t reserved = reserved_by_jvm();
  pthread_attr_t attributes;
  if (reserved == 0 || ::pthread_getattr_np(::pthread_self(), &attributes) != 0) return 0;
  void* end = nullptr;
  size_t size = 0;
  size_t guard = 0;
  const bool found = ::pthread_attr_getstack(&attributes, &end, &size) == 0 &&
                     ::pthread_attr_getguardsize(&attributes, &guard) == 0;
  ::pthread_attr_destroy(&attributes);
  return found ? reinterpret_cast<uintptr_t>(end) + guard + reserved + margin : 0;
}

}  // namespace

constinit thread_local uintptr_t lowest_entry __attribute__((tls_model("initial-exec"))) = unknown;

bool prepare_stack_errors(JNIEnv* jni) {
  const jclass type = jni->FindClass("java/lang/StackOverflowError");
  if (type) error_class = static_cast<jclass>(jni->NewGlobalRef(type));
  return error_class != nullptr;
}

[[gnu::cold, gnu::noinline]] bool may_begin(JNIEnv* jni, uintptr_t frame) {
  if (lowest_entry == unknown) lowest_entry = find_lowest_entry();
  if (frame >= lowest_entry) return true;
  // The constructors of the error may have probes.
  const pi::callflow::Ignored ignored(own_tree);
  const uintptr_t lowest = lowest_entry;
  lowest_entry = 0;
  const bool thrown = jni->ThrowNew(error_class, nullptr) == JNI_OK || jni->ExceptionCheck();
  lowest_entry = lowest;
  return !thrown;
}

}  // namespace pi::jprof
