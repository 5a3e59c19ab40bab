// SPDX-License-Identifier: MIT
// Which virtual thread a Java thread carries: HotSpot's events, and the names of virtual threads.
#include "virtual_threads.h"

#include <cstdint>
#include <cstring>
#include <string_view>

#include "jvmti_memory.h"

namespace pi::jprof {
namespace {

// The bit of can_support_virtual_threads in jvmtiCapabilities, which headers before JDK 21 lack.
constexpr unsigned capability_bit = 44;

// The index of the event with this id, or 0.
jint find_event(const jvmtiExtensionEventInfo* events, jint count, std::string_view id) {
  for (jint i = 0; i < count; ++i)
    if (events[i].id && events[i].id == id) return events[i].extension_event_index;
  return 0;
}

void free_event(jvmtiEnv* jvmti, const jvmtiExtensionEventInfo& event) {
  for (jint i = 0; i < event.param_count; ++i)
    jvmti->Deallocate(reinterpret_cast<unsigned char*>(event.params[i].name));
  for (void* part : {static_cast<void*>(event.id), static_cast<void*>(event.short_description),
                     static_cast<void*>(event.params)})
    jvmti->Deallocate(static_cast<unsigned char*>(part));
}

}  // namespace

bool VirtualThreads::prepare(jvmtiEnv* jvmti) {
  mount_ = unmount_ = 0;
  jvmtiCapabilities potential{}, wanted{};
  if (jvmti->GetPotentialCapabilities(&potential) != JVMTI_ERROR_NONE) return false;
  const auto bits = [](jvmtiCapabilities& all) { return reinterpret_cast<unsigned char*>(&all); };
  constexpr unsigned char bit = 1U << capability_bit % 8;
  if ((bits(potential)[capability_bit / 8] & bit) == 0) return false;
  jint count = 0;
  JvmtiMemory<jvmtiExtensionEventInfo> events(jvmti);
  if (jvmti->GetExtensionEvents(&count, events.place()) != JVMTI_ERROR_NONE) return false;
  mount_ = find_event(events.get(), count, "com.sun.hotspot.events.VirtualThreadMount");
  unmount_ = find_event(events.get(), count, "com.sun.hotspot.events.VirtualThreadUnmount");
  for (jint i = 0; i < count; ++i) free_event(jvmti, events.get()[i]);
  if (mount_ == 0 || unmount_ == 0) return false;
  bits(wanted)[capability_bit / 8] = bit;
  return jvmti->AddCapabilities(&wanted) == JVMTI_ERROR_NONE;
}

// Like its other events, HotSpot's extension events are off until their mode is set.
bool VirtualThreads::enable(jvmtiEnv* jvmti, jvmtiExtensionEvent mount,
                            jvmtiExtensionEvent unmount) const {
  const auto set = [jvmti](jint event, jvmtiExtensionEvent callback) {
    return jvmti->SetExtensionEventCallback(event, callback) == JVMTI_ERROR_NONE &&
           jvmti->SetEventNotificationMode(JVMTI_ENABLE, static_cast<jvmtiEvent>(event), nullptr) ==
               JVMTI_ERROR_NONE;
  };
  return set(unmount_, unmount) && set(mount_, mount);
}

void VirtualThreads::disable(jvmtiEnv* jvmti) const {
  for (const jint event : {mount_, unmount_}) {
    (void)jvmti->SetEventNotificationMode(JVMTI_DISABLE, static_cast<jvmtiEvent>(event), nullptr);
    (void)jvmti->SetExtensionEventCallback(event, nullptr);
  }
}

void VirtualThreads::find_fields(JNIEnv* jni) {
  const jclass type = jni->FindClass("java/lang/Thread");
  if (type) {
    id_ = jni->GetFieldID(type, "tid", "J");
    const jfieldID name = id_ ? jni->GetFieldID(type, "name", "Ljava/lang/String;") : nullptr;
    name_ = name;
    jni->DeleteLocalRef(type);
  }
  if (jni->ExceptionCheck()) jni->ExceptionClear();
}

std::string VirtualThreads::name(JNIEnv* jni, jthread thread) const {
  const jfieldID field = name_;
  if (!field) return {};
  std::string text = "#" + std::to_string(jni->GetLongField(thread, id_));
  const auto name = static_cast<jstring>(jni->GetObjectField(thread, field));
  if (!name) return text;
  const jsize bytes = jni->GetStringUTFLength(name);
  if (bytes > 0) {
    text += ',';
    const size_t before = text.size();
    // One more: GetStringUTFRegion() may write a terminator.
    text.resize(before + static_cast<size_t>(bytes) + 1);
    jni->GetStringUTFRegion(name, 0, jni->GetStringLength(name), text.data() + before);
    text.pop_back();
  }
  jni->DeleteLocalRef(name);
  return text;
}

}  // namespace pi::jprof
