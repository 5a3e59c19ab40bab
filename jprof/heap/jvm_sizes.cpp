// SPDX-License-Identifier: MIT
// The sizes of objects in this JVM: what its options say, what jdk.internal.misc.Unsafe says of
// arrays, and what HotSpot's own structures say of each class.
#include "heap/jvm_sizes.h"

#include <string_view>
#include <utility>

#include "jvm_facts.h"
#include "jvm_flags.h"
#include "jvmti_memory.h"
#include "vm_structs.h"

namespace pi::jprof {
namespace {

// Unsafe of the JDK: the number of bytes before an array's elements, and the fields that the JVM
// adds to classes.
class Unsafe {
 public:
  explicit Unsafe(JNIEnv* jni) : jni_(jni) {
    for (const char* name : {"jdk/internal/misc/Unsafe", "sun/misc/Unsafe"}) {
      class_ = jni->FindClass(name);
      if (!class_) {
        jni->ExceptionClear();
        continue;
      }
      const std::string type = "L" + std::string(name) + ";";
      const jfieldID the_one = checked(jni->GetStaticFieldID(class_, "theUnsafe", type.c_str()));
      get_long_ = checked(jni->GetMethodID(class_, "getLong", "(Ljava/lang/Object;J)J"));
      if (the_one && get_long_) object_ = jni->GetStaticObjectField(class_, the_one);
      return;
    }
  }

  bool good() const { return object_ != nullptr; }

  // A constant, which is an int before JDK 25.
  std::optional<unsigned> constant(const char* name) const {
    if (const jfieldID field = checked(jni_->GetStaticFieldID(class_, name, "I")))
      return static_cast<unsigned>(jni_->GetStaticIntField(class_, field));
    if (const jfieldID field = checked(jni_->GetStaticFieldID(class_, name, "J")))
      return static_cast<unsigned>(jni_->GetStaticLongField(class_, field));
    return std::nullopt;
  }

  uint64_t load_from(jobject object, jlong offset) const {
    const jlong value = jni_->CallLongMethod(object_, get_long_, object, offset);
    if (!jni_->ExceptionCheck()) return static_cast<uint64_t>(value);
    jni_->ExceptionClear();
    return 0;
  }

 private:
  template <class Id>
  Id checked(Id id) const {
    if (jni_->ExceptionCheck()) jni_->ExceptionClear();
    return id;
  }

  JNIEnv* jni_;
  jclass class_ = nullptr;
  jobject object_ = nullptr;
  jmethodID get_long_ = nullptr;
};

std::string class_pointers() {
  if (jvm_switch("UseCompactObjectHeaders").value_or(false)) return "compact";
  const auto compressed = jvm_switch("UseCompressedClassPointers");
  if (!compressed) return {};
  return *compressed ? "compressed" : "full";
}

std::optional<log_hd::Layout> layout_of(const Unsafe& unsafe, const std::string& class_pointers) {
  const auto narrow = unsafe.constant("ARRAY_BYTE_BASE_OFFSET");
  const auto wide = unsafe.constant("ARRAY_LONG_BASE_OFFSET");
  const auto reference = unsafe.constant("ARRAY_OBJECT_INDEX_SCALE");
  const auto alignment = jvm_number("ObjectAlignmentInBytes");
  if (class_pointers.empty() || !narrow || !wide || !reference || !alignment) return std::nullopt;
  log_hd::Layout layout;
  layout.header = class_pointers == "compact" ? 8 : class_pointers == "full" ? 16 : 12;
  layout.array_header = *narrow;
  layout.wide_array_header = *wide;
  layout.reference = *reference;
  layout.alignment = static_cast<unsigned>(*alignment);
  return layout;
}

// Where HotSpot has the size of the objects of a class.
class InstanceSizes {
 public:
  explicit InstanceSizes(const Unsafe& unsafe) : unsafe_(unsafe) {
    const auto tables = VmStructs::of_this_jvm();
    const auto klass =
        tables ? tables->address_of("java_lang_Class", "_klass_offset") : std::nullopt;
    const auto size = tables ? tables->offset_of("Klass", "_layout_helper") : std::nullopt;
    if (!klass || !size || !unsafe.good()) return;
    klass_ = load<int32_t>(*klass);
    size_ = *size;
  }

  // 0 if it is unknown, and for arrays.
  uint32_t of(jclass each) const {
    if (klass_ <= 0) return 0;
    const uint64_t klass = unsafe_.load_from(each, klass_);
    if (klass == 0) return 0;
    // For arrays it is negative; the lowest bit says that objects are created slowly.
    const auto size = load<int32_t>(klass + size_);
    return size > 0 ? static_cast<uint32_t>(size) & ~7U : 0;
  }

 private:
  const Unsafe& unsafe_;
  int32_t klass_ = 0;
  uint64_t size_ = 0;
};

// The JVM's internal name for a signature: "java/lang/String", "[I". A hidden class has '+' where
// its signature has '.'.
std::string internal_name(std::string_view signature) {
  if (!signature.starts_with('L') || !signature.ends_with(';')) return std::string(signature);
  std::string name(signature.substr(1, signature.size() - 2));
  if (const size_t dot = name.rfind('.'); dot != name.npos) name[dot] = '+';
  return name;
}

void add_classes(jvmtiEnv* jvmti, JNIEnv* jni, const Unsafe& unsafe, log_hd::Facts& facts) {
  constexpr std::string_view of_any_size = "jdk/internal/vm/StackChunk";
  const InstanceSizes instances(unsafe);
  jint count = 0;
  JvmtiMemory<jclass> classes(jvmti);
  if (jvmti->GetLoadedClasses(&count, classes.place()) != JVMTI_ERROR_NONE) return;
  for (jint i = 0; i < count; ++i) {
    const jclass each = classes.get()[i];
    JvmtiMemory<char> signature(jvmti);
    jlong own = 0;
    if (jvmti->GetClassSignature(each, signature.place(), nullptr) == JVMTI_ERROR_NONE &&
        jvmti->GetObjectSize(each, &own) == JVMTI_ERROR_NONE) {
      const std::string name = internal_name(signature.get());
      const uint32_t size = name == of_any_size ? 0 : instances.of(each);
      facts.add_class(name, {size, static_cast<uint32_t>(own)});
    }
    jni->DeleteLocalRef(each);
  }
}

}  // namespace

log_hd::Facts facts_of_jvm(jvmtiEnv* jvmti, JNIEnv* jni) {
  log_hd::Facts facts;
  facts.jvm = jvm_name(jvmti);
  facts.class_pointers = class_pointers();
  const Unsafe unsafe(jni);
  if (!unsafe.good()) return facts;
  facts.layout = layout_of(unsafe, facts.class_pointers);
  if (facts.layout) add_classes(jvmti, jni, unsafe, facts);
  return facts;
}

}  // namespace pi::jprof
