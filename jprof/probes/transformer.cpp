// SPDX-License-Identifier: MIT
// The Java transformer, which adds probes to class files, as seen from the agent.
#include "probes/transformer.h"

#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "probes/embedded.h"
#include "probes/probe_class.h"

namespace pi::jprof {
namespace {

constexpr int no_transformer = 1;
constexpr const char* transformer_name = "pitrace.Transformer";

// The list of the natives of pitrace.Methods, which have no object.
MethodList* list = nullptr;

// A string of Java as modified UTF-8.
class Utf {
 public:
  Utf(JNIEnv* jni, jstring string)
      : jni_(jni), string_(string), text_(jni->GetStringUTFChars(string, nullptr)) {}
  ~Utf() {
    if (text_) jni_->ReleaseStringUTFChars(string_, text_);
  }
  Utf(const Utf&) = delete;
  Utf& operator=(const Utf&) = delete;
  const char* text() const { return text_ ? text_ : "?"; }

 private:
  JNIEnv* jni_;
  jstring string_;
  const char* text_;
};

jint JNICALL add(JNIEnv* jni, jclass, jstring method) {
  return static_cast<jint>(list->add(Utf(jni, method).text()));
}

void JNICALL report(JNIEnv* jni, jclass, jstring what, jstring why) {
  list->report(Utf(jni, what).text(), Utf(jni, why).text());
}

template <class Function>
JNINativeMethod native(const char* name, const char* signature, Function* function) {
  return {const_cast<char*>(name), const_cast<char*>(signature), reinterpret_cast<void*>(function)};
}

// The error, with the Java exception that caused it, if there is one.
Error failure(JNIEnv* jni, const std::string& what) {
  if (jni->ExceptionCheck()) {
    jni->ExceptionDescribe();
    jni->ExceptionClear();
  }
  return {no_transformer, "cannot " + what + " in this JVM. Probes need a JVM of Java 11 or later"};
}

// A class loader that finds only the boot class loader's classes, and those defined here.
jobject new_loader(JNIEnv* jni) {
  const jclass url = jni->FindClass("java/net/URL");
  const jclass type = url ? jni->FindClass("java/net/URLClassLoader") : nullptr;
  const jmethodID constructor =
      type ? jni->GetMethodID(type, "<init>", "([Ljava/net/URL;Ljava/lang/ClassLoader;)V")
           : nullptr;
  const jobjectArray none = constructor ? jni->NewObjectArray(0, url, nullptr) : nullptr;
  return none ? jni->NewObject(type, constructor, none, nullptr) : nullptr;
}

// A class of the loader.
jclass find_class(JNIEnv* jni, jobject loader, const char* name) {
  const jclass type = jni->GetObjectClass(loader);
  const jmethodID load =
      jni->GetMethodID(type, "loadClass", "(Ljava/lang/String;)Ljava/lang/Class;");
  const jstring text = load ? jni->NewStringUTF(name) : nullptr;
  const jobject found = text ? jni->CallObjectMethod(loader, load, text) : nullptr;
  return jni->ExceptionCheck() ? nullptr : static_cast<jclass>(found);
}

// Defines the classes of a file of PackClasses.java; loader: null is that of the boot class path.
bool define_all(JNIEnv* jni, jobject loader, std::span<const std::byte> pack) {
  while (!pack.empty()) {
    uint32_t length = 0;
    std::memcpy(&length, pack.data(), sizeof length);
    length = __builtin_bswap32(length);
    const auto code = pack.subspan(sizeof length, length);
    const jclass defined =
        jni->DefineClass(nullptr, loader, reinterpret_cast<const jbyte*>(code.data()),
                         static_cast<jsize>(code.size()));
    if (!defined) return false;
    jni->DeleteLocalRef(defined);
    pack = pack.subspan(sizeof length + length);
  }
  return true;
}

}  // namespace

Status Transformer::load(JNIEnv* jni, MethodList& methods, Purpose purpose) {
  list = &methods;
  purpose_ = purpose;
  if (purpose == Purpose::calls ? !define_probe_class(jni)
                                : !define_all(jni, nullptr, embedded_lock_classes()))
    return failure(jni, "define the classes of the probes");
  const jobject loader = new_loader(jni);
  if (!loader) return failure(jni, "create a class loader");
  loader_ = jni->NewGlobalRef(loader);
  if (!define_all(jni, loader_, embedded_transformer()))
    return failure(jni, "define the transformer of class files");
  const jclass type = find_class(jni, loader_, transformer_name);
  const jclass numbers = type ? find_class(jni, loader_, "pitrace.Methods") : nullptr;
  const JNINativeMethod natives[] = {
      native("add", "(Ljava/lang/String;)I", add),
      native("report", "(Ljava/lang/String;Ljava/lang/String;)V", report)};
  if (!numbers || jni->RegisterNatives(numbers, natives, std::size(natives)) != JNI_OK)
    return failure(jni, "find the transformer of class files");
  const jmethodID transform =
      jni->GetStaticMethodID(type, "transform", "(Ljava/lang/String;[BZZ)[B");
  if (!transform) return failure(jni, "find the transformer of class files");
  transformer_ = static_cast<jclass>(jni->NewGlobalRef(type));
  transform_ = transform;
  return {};
}

bool Transformer::accepts(JNIEnv* jni, jobject loader) const {
  return transform_.load() != nullptr && (!loader || !jni->IsSameObject(loader, loader_));
}

jclass Transformer::define_trained(JNIEnv* jni, bool inlined) const {
  const jmethodID generate = jni->GetStaticMethodID(transformer_, "trainer", "(Z)[B");
  const auto code = generate ? static_cast<jbyteArray>(jni->CallStaticObjectMethod(
                                   transformer_, generate, static_cast<jboolean>(inlined)))
                             : nullptr;
  jclass defined = nullptr;
  if (!jni->ExceptionCheck() && code) {
    const jsize size = jni->GetArrayLength(code);
    std::vector<jbyte> bytes(static_cast<size_t>(size));
    jni->GetByteArrayRegion(code, 0, size, bytes.data());
    defined = jni->DefineClass("pitrace/Trained", loader_, bytes.data(), size);
    jni->DeleteLocalRef(code);
  }
  if (jni->ExceptionCheck()) jni->ExceptionClear();
  return defined;
}

std::span<unsigned char> Transformer::transform(jvmtiEnv* jvmti, JNIEnv* jni, const char* name,
                                                std::span<const unsigned char> code,
                                                bool may_add_methods) const {
  constexpr jint references = 8;
  if (jni->PushLocalFrame(references) != JNI_OK) {
    jni->ExceptionClear();
    return {};
  }
  std::span<unsigned char> result;
  const auto size = static_cast<jsize>(code.size());
  const jstring text = jni->NewStringUTF(name);
  const jbyteArray before = text ? jni->NewByteArray(size) : nullptr;
  jbyteArray after = nullptr;
  if (before) {
    jni->SetByteArrayRegion(before, 0, size, reinterpret_cast<const jbyte*>(code.data()));
    after = static_cast<jbyteArray>(jni->CallStaticObjectMethod(
        transformer_, transform_, text, before, static_cast<jboolean>(may_add_methods),
        static_cast<jboolean>(purpose_ == Purpose::locks)));
  }
  if (jni->ExceptionCheck()) {
    jni->ExceptionClear();
    list->report(name, "the transformer failed");
  } else if (after) {
    const jsize length = jni->GetArrayLength(after);
    unsigned char* memory = nullptr;
    if (jvmti->Allocate(length, &memory) == JVMTI_ERROR_NONE) {
      jni->GetByteArrayRegion(after, 0, length, reinterpret_cast<jbyte*>(memory));
      result = {memory, static_cast<size_t>(length)};
    }
  }
  jni->PopLocalFrame(nullptr);
  return result;
}

}  // namespace pi::jprof
