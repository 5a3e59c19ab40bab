// SPDX-License-Identifier: MIT
// Puts probes into all classes of a JVM: into those that are loaded already, and into each that is
// loaded.
#include "probes/class_probes.h"

#include <algorithm>
#include <string_view>
#include <vector>

#include "jvmti_memory.h"
#include "probes/own_tree.h"

namespace pi::jprof {
namespace {

constexpr const char* native_prefix = "$pitrace$";  // that of NativeMethods.java

// Code that changes the thread's stack or identity, in which the JVM expects no calls.
constexpr std::string_view untouchable[] = {"java/lang/VirtualThread", "java/lang/Pitrace",
                                            "jdk/internal/vm/"};

bool is_untouchable(std::string_view name) {
  return std::any_of(std::begin(untouchable), std::end(untouchable),
                     [name](std::string_view prefix) { return name.starts_with(prefix); });
}

// A class's name as in class files, from the JVM's signature; empty for arrays and primitive types.
std::string_view name_in(std::string_view signature) {
  if (!signature.starts_with('L')) return {};
  return signature.substr(1, signature.size() - 2);
}

struct LoadedClass {
  jclass type;
  std::string signature;
  bool modifiable;
};

// The loaded classes, with a global reference each: with many local ones, -Xcheck:jni warns of each
// call of JNI in the events that retransforming these classes causes.
class LoadedClasses {
 public:
  LoadedClasses(jvmtiEnv* jvmti, JNIEnv* jni) : jni_(jni) {
    constexpr jint references_max = 1 << 16;  // the largest number that HotSpot accepts
    if (jni->PushLocalFrame(references_max) == JNI_OK) {
      add_all(jvmti);
      jni->PopLocalFrame(nullptr);
    } else {
      jni->ExceptionClear();
    }
  }
  ~LoadedClasses() {
    for (const auto& loaded : all) jni_->DeleteGlobalRef(loaded.type);
  }
  LoadedClasses(const LoadedClasses&) = delete;
  LoadedClasses& operator=(const LoadedClasses&) = delete;

  std::vector<LoadedClass> all;

 private:
  void add_all(jvmtiEnv* jvmti) {
    jint count = 0;
    JvmtiMemory<jclass> classes(jvmti);
    if (jvmti->GetLoadedClasses(&count, classes.place()) != JVMTI_ERROR_NONE) return;
    for (jint i = 0; i < count; ++i) {
      const auto type = static_cast<jclass>(jni_->NewGlobalRef(classes.get()[i]));
      JvmtiMemory<char> signature(jvmti);
      jboolean modifiable = JNI_FALSE;
      (void)jvmti->GetClassSignature(type, signature.place(), nullptr);
      (void)jvmti->IsModifiableClass(type, &modifiable);
      all.push_back({type, signature.get() ? signature.get() : "", modifiable == JNI_TRUE});
    }
  }

  JNIEnv* jni_;
};

// Native methods were renamed when the class was loaded.
bool has_renamed_natives(jvmtiEnv* jvmti, jclass type) {
  jint count = 0;
  JvmtiMemory<jmethodID> methods(jvmti);
  if (jvmti->GetClassMethods(type, &count, methods.place()) != JVMTI_ERROR_NONE) return false;
  const std::span all(methods.get(), static_cast<size_t>(count));
  return std::any_of(all.begin(), all.end(), [jvmti](jmethodID method) {
    JvmtiMemory<char> name(jvmti);
    return jvmti->GetMethodName(method, name.place(), nullptr, nullptr) == JVMTI_ERROR_NONE &&
           std::string_view(name.get()).starts_with(native_prefix);
  });
}

}  // namespace

void ClassProbes::add_capabilities(jvmtiCapabilities& capabilities) {
  capabilities.can_generate_all_class_hook_events = 1;
  capabilities.can_retransform_classes = 1;
  capabilities.can_retransform_any_class = 1;
  capabilities.can_set_native_method_prefix = 1;
}

Status ClassProbes::prepare(jvmtiEnv* jvmti, JNIEnv* jni, MethodList& methods, Purpose purpose) {
  methods_ = &methods;
  purpose_ = purpose;
  if (purpose == Purpose::calls) (void)jvmti->SetNativeMethodPrefix(native_prefix);
  return transformer_.load(jni, methods, purpose);
}

void ClassProbes::instrument_loaded(jvmtiEnv* jvmti, JNIEnv* jni) {
  const AgentWork work;
  const auto instrument = [&](auto is_chosen) {
    const LoadedClasses classes(jvmti, jni);
    std::vector<jclass> chosen;
    for (const auto& loaded : classes.all)
      if (loaded.modifiable && is_chosen(loaded)) chosen.push_back(loaded.type);
    if (!chosen.empty()) retransform(jvmti, chosen);
    return !chosen.empty();
  };
  bool more = instrument([](const LoadedClass&) { return true; });
  // The transformer loads the classes that it needs itself.
  while (more) {
    std::set<std::string> later;
    {
      const std::lock_guard lock(mutex_);
      later.swap(later_);
    }
    more = instrument([&](const LoadedClass& loaded) { return later.contains(loaded.signature); });
  }
}

// The JVM changes all classes or none: finds those that it refuses.
void ClassProbes::retransform(jvmtiEnv* jvmti, std::span<const jclass> classes) {
  const auto count = static_cast<jint>(classes.size());
  const jvmtiError error = jvmti->RetransformClasses(count, classes.data());
  if (error == JVMTI_ERROR_NONE) return;
  if (count > 1) {
    retransform(jvmti, classes.first(classes.size() / 2));
    retransform(jvmti, classes.subspan(classes.size() / 2));
    return;
  }
  JvmtiMemory<char> signature(jvmti), reason(jvmti);
  (void)jvmti->GetClassSignature(classes[0], signature.place(), nullptr);
  (void)jvmti->GetErrorName(error, reason.place());
  methods_->report(name_in(signature.get() ? signature.get() : ""),
                   "the JVM refuses its probes: " + std::string(reason.get() ? reason.get() : "?"));
}

void ClassProbes::on_class_file(jvmtiEnv* jvmti, JNIEnv* jni, jclass redefined, jobject loader,
                                const char* name, std::span<const unsigned char> code,
                                jint* new_size, unsigned char** new_code) {
  // The JVM does not know the name if the program called defineClass() without one.
  if (!name) name = "?";
  if (!transformer_.accepts(jni, loader)) return;
  if (is_untouchable(name)) {
    // The monitors of these are too few to list the classes.
    if (purpose_ == Purpose::calls) methods_->report(name, "the JVM depends on its code");
    return;
  }
  if (!redefined && AgentWork::is_running()) {
    const std::lock_guard lock(mutex_);
    later_.insert("L" + std::string(name) + ";");
    return;
  }
  const AgentWork work;
  const bool may_add_methods = !redefined || has_renamed_natives(jvmti, redefined);
  const auto changed = transformer_.transform(jvmti, jni, name, code, may_add_methods);
  if (changed.empty()) return;
  *new_size = static_cast<jint>(changed.size());
  *new_code = changed.data();
}

void ClassProbes::list_unmodifiable(jvmtiEnv* jvmti, JNIEnv* jni) {
  const LoadedClasses classes(jvmti, jni);
  for (const auto& loaded : classes.all)
    if (!loaded.modifiable && !name_in(loaded.signature).empty())
      methods_->report(name_in(loaded.signature), "hidden: the JVM does not allow changes");
  const std::lock_guard lock(mutex_);
  for (const auto& signature : later_)
    methods_->report(name_in(signature), "loaded by the transformer of class files");
}

}  // namespace pi::jprof
