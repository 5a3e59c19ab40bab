// SPDX-License-Identifier: MIT
// SCS in one JVM: from the options to samples in trees.
#include "scs/sampler.h"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <exception>
#include <utility>
#include <vector>

#include "jvm_facts.h"
#include "jvmti_memory.h"
#include "local_frame.h"
#include "messages.h"
#include "methods.h"
#include "probes/agent_thread.h"
#include "return_codes.h"
#include "scs/async_stacks.h"
#include "scs/sampler_events.h"
#include "thread_ids.h"

namespace pi::jprof {
namespace {

constexpr uint64_t second = 1'000'000'000;
// How often the agent's thread counts what the signal handlers found. Until then the names of a
// class that is unloaded get lost.
constexpr std::chrono::milliseconds counting_interval{100};

// Exceptions (out of memory) are caught here: the caller is the JVM, which is C.
template <class Action>
void run(Action action) noexcept {
  try {
    action();
  } catch (const std::exception& error) {
    say(std::string("call-stack sampling: ") + error.what());
  }
}

uint32_t own_tid() {
  return static_cast<uint32_t>(::gettid());
}

// Gives the methods of a class ids, which a signal handler cannot do.
void make_ids(jvmtiEnv* jvmti, jclass type) {
  jint count = 0;
  JvmtiMemory<jmethodID> methods(jvmti);
  (void)jvmti->GetClassMethods(type, &count, methods.place());
}

// The frame that shows an object's class: "(java/lang/String)", "([B)".
std::string class_frame(jvmtiEnv* jvmti, jclass type) {
  JvmtiMemory<char> signature(jvmti);
  (void)jvmti->GetClassSignature(type, signature.place(), nullptr);
  std::string name = signature.get() ? signature.get() : "?";
  if (name.starts_with('L') && name.ends_with(';')) name = name.substr(1, name.size() - 2);
  return "(" + name + ")";
}

}  // namespace

Sampler& Sampler::get() {
  static Sampler* const instance = new Sampler;
  return *instance;
}

void Sampler::report(const std::string& text) const {
  if (options_.verbose) say(text);
}

// ---- start ----

Status Sampler::start(JavaVM* vm, const Options& options) {
  vm_ = vm;
  options_ = options;
  period_ = second / options.sampling.rate;
  frames_ = options.sampling.frames;
  with_class_ = options.sampling.with_class;
  with_native_ = options.sampling.with_native;
  if (options.sampling.event != SampleEvent::time) {
    way_ = Way::events;
    occurrences_.emplace(options.sampling);
  } else if (options.sampling.at_safepoints || !AsyncStacks::is_supported()) {
    way_ = Way::safepoint;
  }
  if (with_native_ && way_ != Way::async)
    return Error{no_events, "this JVM has no AsyncGetCallTrace, which SCS_A2N needs"};
  if (const auto opened = logs_.open(options); !opened) return opened;
  return make_environment();
}

bool Sampler::enable(jvmtiEventMode mode, jvmtiEvent event) {
  return jvmti_->SetEventNotificationMode(mode, event, nullptr) == JVMTI_ERROR_NONE;
}

// While nothing is recorded these events are off, and cost nothing.
bool Sampler::enable_events(jvmtiEventMode mode) {
  bool all = enable(mode, JVMTI_EVENT_THREAD_START) && enable(mode, JVMTI_EVENT_THREAD_END);
  if (way_ == Way::async)
    all = enable(mode, JVMTI_EVENT_CLASS_LOAD) && enable(mode, JVMTI_EVENT_CLASS_PREPARE) && all;
  if (way_ == Way::events) all = enable(mode, occurrences_->event()) && all;
  return all;
}

Status Sampler::make_environment() {
  void* environment = nullptr;
  if (vm_->GetEnv(&environment, JVMTI_VERSION_1_2) != JNI_OK)
    return Error{no_events, "this JVM has no JVMTI of version 1.2 or later"};
  jvmti_ = static_cast<jvmtiEnv*>(environment);
  jvmtiCapabilities wanted{};
  if (way_ == Way::async)
    wanted.can_generate_compiled_method_load_events = 1;
  else if (way_ == Way::safepoint)
    SafepointStacks::add_capabilities(wanted);
  else
    Occurrences::add_capability(options_.sampling, wanted);
  const jvmtiEventCallbacks callbacks = sampler_callbacks();
  const bool able =
      jvmti_->AddCapabilities(&wanted) == JVMTI_ERROR_NONE &&
      jvmti_->SetEventCallbacks(&callbacks, sizeof callbacks) == JVMTI_ERROR_NONE &&
      (way_ != Way::events || occurrences_->prepare(jvmti_)) &&
      (way_ != Way::async || enable(JVMTI_ENABLE, JVMTI_EVENT_COMPILED_METHOD_LOAD)) &&
      enable(JVMTI_ENABLE, JVMTI_EVENT_VM_INIT) && enable(JVMTI_ENABLE, JVMTI_EVENT_VM_DEATH);
  if (able) return {};
  jvmti_->DisposeEnvironment();
  return Error{no_events, "this JVM does not let an agent sample its threads"};
}

// ---- the recording ----

void Sampler::prepare_methods(JNIEnv* jni) {
  const LocalFrame frame(jni, local_references_max);
  jint count = 0;
  JvmtiMemory<jclass> classes(jvmti_);
  if (!frame.good() || jvmti_->GetLoadedClasses(&count, classes.place()) != JVMTI_ERROR_NONE)
    return;
  for (jint i = 0; i < count; ++i) make_ids(jvmti_, classes.get()[i]);
}

Status Sampler::begin(JNIEnv* jni) {
  clear();
  if (occurrences_) occurrences_->reset();
  const auto started = begin_stacks(jni);
  if (!started) {
    (void)enable_events(JVMTI_DISABLE);
    return started;
  }
  {
    const std::lock_guard lock(counting_);
    recording_ = true;
  }
  changed_.notify_all();
  has_counts_ = true;
  if (way_ == Way::async)
    for (const auto& [tid, name] : live_threads(vm_, jvmti_, jni))
      if (!is_agent_thread(name)) AsyncStacks::get().timers().add(tid);
  return {};
}

Status Sampler::begin_stacks(JNIEnv* jni) {
  if (!enable_events(JVMTI_ENABLE))
    return Error{no_events, "this JVM does not report its threads and classes"};
  if (way_ == Way::async) return begin_async_stacks(jni);
  if (way_ == Way::safepoint) safepoint_stacks_.start(period_, frames_);
  return {};
}

Status Sampler::begin_async_stacks(JNIEnv* jni) {
  if (with_native_)
    if (const auto prepared = prepare_native(); !prepared) return prepared;
  prepare_methods(jni);
  return AsyncStacks::get().start(vm_, period_, frames_, java_code_);
}

Status Sampler::prepare_native() {
  const std::lock_guard lock(draining_);
  if (!native_) {
    const auto java_code = find_java_code();
    if (!java_code) return java_code.error();
    java_code_ = *java_code;
    native_.emplace(*java_code, methods_);
    if (const auto named = native_->load_names(); !named)
      say(named.error().message + ": native functions are shown by their addresses");
  }
  native_->begin_drain();
  return {};
}

void Sampler::end() {
  {
    const std::lock_guard lock(counting_);
    if (!recording_) return;
    recording_ = false;
  }
  if (way_ == Way::async) AsyncStacks::get().stop();
  (void)enable_events(JVMTI_DISABLE);
  drain();
}

bool Sampler::is_recording() const {
  const std::lock_guard lock(counting_);
  return recording_;
}

void Sampler::clear() {
  drain();
  const std::lock_guard lock(counting_);
  trees_.clear();
  unwalked_.clear();
  walked_ = lost_ = 0;
}

void Sampler::drain() {
  if (way_ != Way::async) return;
  const std::lock_guard drain_lock(draining_);
  if (native_) native_->begin_drain();
  auto& stacks = AsyncStacks::get();
  stacks.drain([&](const Sample& sample) {
    std::vector<uint32_t> native;
    if (native_ && !sample.capture.empty())
      native = native_->find(sample.capture, sample.outcome > 0);
    const std::lock_guard lock(counting_);
    add(sample, native);
  });
  const std::lock_guard lock(counting_);
  lost_ += stacks.take_lost();
}

// Under counting_, as the functions after it. The JVM can use the id of a method again, once its
// class was unloaded.
void Sampler::forget_numbers() {
  numbers_.clear();
  trees_.forget_ended();
}

uint32_t Sampler::number_of(uint64_t method) {
  const auto [place, is_new] = numbers_.try_emplace(method);
  if (!is_new) return place->second;
  std::string name = "[method-without-id]";
  if (method != 0) {
    name = MethodFinder(vm_, jvmti_).find(reinterpret_cast<jmethodID>(method)).name;
    if (name == "?") name = "[method-of-unloaded-class]";
  }
  return place->second = methods_.add(name);
}

void Sampler::add(const Sample& sample, std::span<const uint32_t> native) {
  if (sample.outcome > 0)
    walked_ += sample.periods;
  else
    unwalked_[sample.outcome] += sample.periods;
  std::vector<uint32_t> inner(native.begin(), native.end());
  for (uint32_t& number : inner) number |= native_bit;
  add(sample.tid, std::move(inner), sample.methods, {sample.periods});
}

// inner: numbers of frames below the innermost method.
void Sampler::add(uint32_t tid, std::vector<uint32_t> inner, std::span<const uint64_t> methods,
                  const SampleValues& values) {
  const bool is_cut = inner.size() + methods.size() > frames_;
  std::vector<uint32_t> numbers = std::move(inner);
  for (const uint64_t method : methods) numbers.push_back(number_of(method));
  if (is_cut) {
    numbers.resize(frames_);
    numbers.push_back(methods_.add("[callers-beyond-SCS_FRAMES]"));
  }
  trees_.add(tid, numbers, values);
}

void JNICALL Sampler::run_thread(jvmtiEnv*, JNIEnv* jni, void* sampler) {
  ignore_own_calls();
  run([&] { static_cast<Sampler*>(sampler)->count_until_end(jni); });
}

void Sampler::count_until_end(JNIEnv* jni) {
  std::unique_lock lock(counting_);
  while (!thread_ends_) {
    if (!recording_) {
      changed_.wait(lock);
      continue;
    }
    const bool at_safepoints = way_ == Way::safepoint;
    const LocalFrame frame(jni, at_safepoints ? local_references_max : 16);
    if (!frame.good()) return;
    if (at_safepoints)
      safepoint_stacks_.sample(jvmti_, jni, [&](const Sample& sample) { add(sample, {}); });
    lock.unlock();
    drain();
    lock.lock();
    forget_numbers();
    if (at_safepoints)
      changed_.wait_for(lock, std::chrono::nanoseconds(period_));
    else
      changed_.wait_for(lock, counting_interval);
  }
}

// ---- events ----

void Sampler::on_vm_init(JNIEnv* jni) noexcept {
  run([&] {
    std::unique_lock lock(control_);
    if (way_ == Way::safepoint && !options_.sampling.at_safepoints)
      say("this JVM has no AsyncGetCallTrace: threads are sampled at safepoints only");
    auto good = start_agent_thread(jvmti_, jni, samples_thread, run_thread, this);
    if (good)
      server_.start(jvmti_, jni, options_,
                    [this](JNIEnv* own, const Command& command) { return execute(own, command); });
    if (good && options_.start) good = begin(jni);
    if (!good)
      say(good.error().message + ". No stacks are sampled; the JVM continues");
    else if (options_.start)
      report("stacks are sampled; log: '" + logs_.next() + "'");
    lock.unlock();
    if (occurrences_ && is_recording()) occurrences_->begin(jvmti_);
  });
}

void Sampler::on_vm_death(JNIEnv* jni) noexcept {
  run([&] {
    server_.stop();
    const std::lock_guard lock(control_);
    ended_ = true;
    end();
    {
      const std::lock_guard counting(counting_);
      thread_ends_ = true;
    }
    changed_.notify_all();
    if (!has_counts_) return logs_.discard();
    if (const auto written = write_logs(jni); !written)
      say(written.error().message);
    else
      report("the JVM ends; log: '" + logs_.last() + "'");
  });
}

void Sampler::on_thread_start(jthread thread) noexcept {
  run([&] {
    const auto name = thread_name(vm_, jvmti_, thread);
    const std::lock_guard lock(counting_);
    if (!recording_) return;
    trees_.thread_starts(own_tid());
    if (way_ == Way::async && !is_agent_thread(name.value_or("")))
      AsyncStacks::get().timers().replace(own_tid());
  });
}

void Sampler::on_thread_end(jthread thread) noexcept {
  run([&] {
    if (way_ == Way::async) AsyncStacks::get().timers().remove(own_tid());
    const auto name = thread_name(vm_, jvmti_, thread);
    const std::lock_guard lock(counting_);
    if (recording_) trees_.thread_ends(own_tid(), name.value_or(""));
  });
}

void Sampler::on_class_prepare(jclass type) noexcept {
  run([&] { make_ids(jvmti_, type); });
}

template <class ClassOf>
void Sampler::occur(uint64_t bytes, ClassOf class_of) {
  if (ignores_own_calls()) return;
  const SampleValues values = occurrences_->next(bytes);
  if (values == SampleValues{}) return;
  std::vector<jvmtiFrameInfo> frames(frames_ + 1);
  jint count = 0;
  const bool found = jvmti_->GetStackTrace(nullptr, 0, static_cast<jint>(frames.size()),
                                           frames.data(), &count) == JVMTI_ERROR_NONE;
  std::vector<uint64_t> methods;
  for (jint i = 0; found && i < count; ++i)
    methods.push_back(reinterpret_cast<uint64_t>(frames[static_cast<size_t>(i)].method));
  std::string name;
  if (with_class_) name = class_of();
  const std::lock_guard lock(counting_);
  if (!recording_) return;
  if (methods.empty())
    ++unwalked_[0];
  else
    ++walked_;
  std::vector<uint32_t> inner;
  if (!name.empty()) inner.push_back(methods_.add(name));
  add(own_tid(), std::move(inner), methods, values);
}

void Sampler::on_class_load(jclass type) noexcept {
  if (way_ == Way::events) run([&] { occur(0, [&] { return class_frame(jvmti_, type); }); });
}

void Sampler::on_monitor(JNIEnv* jni, jobject object) noexcept {
  run([&] {
    occur(0, [&] {
      const jclass type = jni->GetObjectClass(object);
      std::string name = class_frame(jvmti_, type);
      jni->DeleteLocalRef(type);
      return name;
    });
  });
}

void Sampler::on_allocation(jclass type, jlong bytes) noexcept {
  run([&] { occur(static_cast<uint64_t>(bytes), [&] { return class_frame(jvmti_, type); }); });
}

}  // namespace pi::jprof
