// SPDX-License-Identifier: MIT
// SCS in one JVM: from the options to samples in trees.
#include "scs/sampler.h"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <exception>
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
  async_ = !options.sampling.at_safepoints && AsyncStacks::is_supported();
  if (const auto opened = logs_.open(options); !opened) return opened;
  return make_environment();
}

bool Sampler::enable(jvmtiEventMode mode, jvmtiEvent event) {
  return jvmti_->SetEventNotificationMode(mode, event, nullptr) == JVMTI_ERROR_NONE;
}

// While nothing is recorded these events are off, and cost nothing.
bool Sampler::enable_events(jvmtiEventMode mode) {
  bool all = enable(mode, JVMTI_EVENT_THREAD_START) && enable(mode, JVMTI_EVENT_THREAD_END);
  if (async_)
    all = enable(mode, JVMTI_EVENT_CLASS_LOAD) && enable(mode, JVMTI_EVENT_CLASS_PREPARE) && all;
  return all;
}

Status Sampler::make_environment() {
  void* environment = nullptr;
  if (vm_->GetEnv(&environment, JVMTI_VERSION_1_2) != JNI_OK)
    return Error{no_events, "this JVM has no JVMTI of version 1.2 or later"};
  jvmti_ = static_cast<jvmtiEnv*>(environment);
  jvmtiCapabilities wanted{};
  if (async_)
    wanted.can_generate_compiled_method_load_events = 1;
  else
    SafepointStacks::add_capabilities(wanted);
  const jvmtiEventCallbacks callbacks = sampler_callbacks();
  const bool able = jvmti_->AddCapabilities(&wanted) == JVMTI_ERROR_NONE &&
                    jvmti_->SetEventCallbacks(&callbacks, sizeof callbacks) == JVMTI_ERROR_NONE &&
                    (!async_ || enable(JVMTI_ENABLE, JVMTI_EVENT_COMPILED_METHOD_LOAD)) &&
                    enable(JVMTI_ENABLE, JVMTI_EVENT_VM_INIT) &&
                    enable(JVMTI_ENABLE, JVMTI_EVENT_VM_DEATH);
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
  if (async_)
    for (const auto& [tid, name] : live_threads(vm_, jvmti_, jni))
      if (!is_agent_thread(name)) AsyncStacks::get().timers().add(tid);
  return {};
}

Status Sampler::begin_stacks(JNIEnv* jni) {
  if (!enable_events(JVMTI_ENABLE))
    return Error{no_events, "this JVM does not report its threads and classes"};
  if (async_) {
    prepare_methods(jni);
    return AsyncStacks::get().start(vm_, period_, frames_);
  }
  safepoint_stacks_.start(period_, options_.sampling.frames);
  return {};
}

void Sampler::end() {
  {
    const std::lock_guard lock(counting_);
    if (!recording_) return;
    recording_ = false;
  }
  if (async_) AsyncStacks::get().stop();
  (void)enable_events(JVMTI_DISABLE);
  const std::lock_guard lock(counting_);
  drain();
}

bool Sampler::is_recording() const {
  const std::lock_guard lock(counting_);
  return recording_;
}

void Sampler::clear() {
  const std::lock_guard lock(counting_);
  drain();
  trees_.clear();
  unwalked_.clear();
  walked_ = lost_ = 0;
}

// Under counting_. The names are looked up each time: the JVM can use the id of a method again.
void Sampler::drain() {
  if (!async_) return;
  std::map<uint64_t, uint32_t> numbers;
  auto& stacks = AsyncStacks::get();
  stacks.drain([&](const Sample& sample) { add(sample, numbers); });
  lost_ += stacks.take_lost();
  trees_.forget_ended();
}

uint32_t Sampler::number_of(uint64_t method, std::map<uint64_t, uint32_t>& numbers) {
  const auto [place, is_new] = numbers.try_emplace(method);
  if (!is_new) return place->second;
  std::string name = "[method-without-id]";
  if (method != 0) {
    name = MethodFinder(vm_, jvmti_).find(reinterpret_cast<jmethodID>(method)).name;
    if (name == "?") name = "[method-of-unloaded-class]";
  }
  return place->second = methods_.add(name);
}

void Sampler::add(const Sample& sample, std::map<uint64_t, uint32_t>& numbers) {
  if (sample.outcome > 0)
    walked_ += sample.periods;
  else
    unwalked_[sample.outcome] += sample.periods;
  std::vector<uint32_t> methods;
  for (const uint64_t method : sample.methods.first(std::min(sample.methods.size(), frames_)))
    methods.push_back(number_of(method, numbers));
  if (sample.methods.size() > frames_)
    methods.push_back(methods_.add("[callers-beyond-SCS_FRAMES]"));
  trees_.add(sample.tid, methods, {sample.periods});
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
    const LocalFrame frame(jni, async_ ? 16 : local_references_max);
    if (!frame.good()) return;
    if (async_) {
      drain();
      changed_.wait_for(lock, counting_interval);
    } else {
      std::map<uint64_t, uint32_t> numbers;
      safepoint_stacks_.sample(jvmti_, jni, [&](const Sample& sample) { add(sample, numbers); });
      trees_.forget_ended();
      changed_.wait_for(lock, std::chrono::nanoseconds(period_));
    }
  }
}

// ---- events ----

void Sampler::on_vm_init(JNIEnv* jni) noexcept {
  run([&] {
    const std::lock_guard lock(control_);
    if (!async_ && !options_.sampling.at_safepoints)
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
    if (async_ && !is_agent_thread(name.value_or("")))
      AsyncStacks::get().timers().replace(own_tid());
  });
}

void Sampler::on_thread_end(jthread thread) noexcept {
  run([&] {
    if (async_) AsyncStacks::get().timers().remove(own_tid());
    const auto name = thread_name(vm_, jvmti_, thread);
    const std::lock_guard lock(counting_);
    if (recording_) trees_.thread_ends(own_tid(), name.value_or(""));
  });
}

void Sampler::on_class_prepare(jclass type) noexcept {
  run([&] { make_ids(jvmti_, type); });
}

}  // namespace pi::jprof
