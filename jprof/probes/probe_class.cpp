// SPDX-License-Identifier: MIT
// The native methods of java.lang.PitraceProbe, which probed methods call.
#include "probes/probe_class.h"

#include "probes/embedded.h"
#include "probes/method_list.h"
#include "probes/own_tree.h"
#include "probes/stack_room.h"

namespace pi::jprof {
namespace {

namespace callflow = pi::callflow;
using callflow::Transition;
using callflow::Type;

// Methods.java: the kind of a method is in the lowest bits of its id.
constexpr unsigned kind_bits = 2;
constexpr unsigned kind_mask = (1U << kind_bits) - 1;
// By kind; from index 4 on the caller is compiled.
constexpr Type types[] = {
    Type::interpreted, Type::interpreted_static, Type::native, Type::native_static,
    Type::jitted,      Type::jitted_static,      Type::native, Type::native_static};

uintptr_t interpreter_begin = 0;
uintptr_t interpreter_size = 0;

// The frame of a native method is below that of the JVM's stub which calls it. The stub, like each
// native method here, begins with its caller's frame pointer and the address to which it returns:
// that is in the code of the Java method.
[[gnu::always_inline]] inline Type type_of(jint id) {
  auto* const own = static_cast<void**>(__builtin_frame_address(0));
  auto* const stub = static_cast<void**>(own[0]);
  const auto caller = reinterpret_cast<uintptr_t>(stub[1]);
  const bool compiled = caller - interpreter_begin >= interpreter_size;
  return types[(static_cast<unsigned>(id) & kind_mask) | unsigned{compiled} << kind_bits];
}

[[gnu::always_inline]] inline uint64_t method_of(jint id) {
  return id_of_method(static_cast<uint32_t>(id) >> kind_bits);
}

// Calls a native method, for which the JVM then looks for its code, before it is called in a place
// where that could disturb the program.
bool bind(JNIEnv* jni, jclass probe, const char* name) {
  const jmethodID method = jni->GetStaticMethodID(probe, name, "(I)V");
  if (method) jni->CallStaticVoidMethod(probe, method, jint{0});
  return !jni->ExceptionCheck();
}

}  // namespace

void set_interpreter(const void* code, size_t size) {
  interpreter_begin = reinterpret_cast<uintptr_t>(code);
  interpreter_size = size;
}

bool define_probe_class(JNIEnv* jni) {
  const auto code = embedded_probe_class();
  const jclass probe = jni->DefineClass("java/lang/PitraceProbe", nullptr,
                                        reinterpret_cast<const jbyte*>(code.data()),
                                        static_cast<jsize>(code.size()));
  const bool defined = probe && prepare_stack_errors(jni) && bind(jni, probe, "enter") &&
                       bind(jni, probe, "exit") && bind(jni, probe, "exitByException");
  if (jni->ExceptionCheck()) jni->ExceptionClear();
  return defined;
}

}  // namespace pi::jprof

// The JVM finds these in the library by their names: it warns of RegisterNatives() for classes of
// its own module.
using namespace pi::jprof;

extern "C" {

JNIEXPORT void JNICALL Java_java_lang_PitraceProbe_enter(JNIEnv* jni, jclass, jint id) {
  const auto frame = reinterpret_cast<uintptr_t>(__builtin_frame_address(0));
  if (frame < lowest_entry && !may_begin(jni, frame)) [[unlikely]]
    return;
  callflow::enter(own_tree, method_of(id), type_of(id));
}

JNIEXPORT void JNICALL Java_java_lang_PitraceProbe_exit(JNIEnv*, jclass, jint id) {
  callflow::leave(own_tree, method_of(id), type_of(id), Transition::exit);
}

JNIEXPORT void JNICALL Java_java_lang_PitraceProbe_exitByException(JNIEnv*, jclass, jint id) {
  callflow::leave(own_tree, method_of(id), type_of(id), Transition::exit_by_exception);
}
}
