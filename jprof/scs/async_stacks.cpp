// SPDX-License-Identifier: MIT
// Stacks of Java threads at any moment of their execution.
#include "scs/async_stacks.h"

#include <dlfcn.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>

#include "return_codes.h"

namespace pi::jprof {
namespace {

// The types of AsyncGetCallTrace, which no header of a JDK has (forte.cpp of OpenJDK).
struct AsyncFrame {
  jint line;
  jmethodID method;
};
struct AsyncTrace {
  JNIEnv* jni;
  jint count;
  AsyncFrame* frames;
};
using AsyncGetCallTrace = void (*)(AsyncTrace* trace, jint depth, void* context);

// In the order of its negative results, from 0.
constexpr std::array reasons = {"no frame of Java",
                                "class events were off",
                                "garbage collection",
                                "native code whose caller is unknown",
                                "native code whose caller cannot be found",
                                "the caller of Java code is unknown",
                                "the caller of Java code cannot be found",
                                "unknown state of the thread",
                                "the thread was ending",
                                "code was being deoptimised",
                                "a safepoint"};
// Outcomes of this file.
constexpr int32_t not_attached = -100;

// What the signal handler uses. The handler stays, so nothing of it is freed.
struct Shared {
  std::atomic<bool> recording;
  std::atomic<uint32_t> running;  // handlers
  JavaVM* vm;
  AsyncGetCallTrace walk;
  SampleBuffers* buffers;
  jint depth;
  bool captures;
  CodeRange java_code;
  struct sigaction before;
};
constinit Shared shared{};

void take_sample(const siginfo_t& info, void* context) {
  void* jni = nullptr;
  const auto walk = [&](void* frames) -> int32_t {
    // For the calling thread, from its thread-local storage.
    if (shared.vm->GetEnv(&jni, JNI_VERSION_1_6) != JNI_OK) return not_attached;
    AsyncTrace trace{static_cast<JNIEnv*>(jni), 0, static_cast<AsyncFrame*>(frames)};
    shared.walk(&trace, shared.depth, context);
    return trace.count;
  };
  const auto method_at = [](const void* frames, size_t i) {
    return reinterpret_cast<uint64_t>(static_cast<const AsyncFrame*>(frames)[i].method);
  };
  const auto capture_native = [&](uint64_t* words) -> size_t {
    const auto& interrupted = *static_cast<const ucontext_t*>(context);
    const bool wanted = shared.captures && !shared.java_code.contains(instruction_of(interrupted));
    return wanted ? capture(interrupted, words) : 0;
  };
  const auto tid = static_cast<uint32_t>(::syscall(SYS_gettid));
  const auto overrun = info.si_overrun > 0 ? static_cast<uint32_t>(info.si_overrun) : 0;
  shared.buffers->record(tid, 1 + overrun, walk, method_at, capture_native);
}

// A signal that is none of the timers' belongs to the handler that the program had before.
void pass_on(int signal, siginfo_t* info, void* context) {
  if ((shared.before.sa_flags & SA_SIGINFO) != 0)
    shared.before.sa_sigaction(signal, info, context);
  else if (shared.before.sa_handler != SIG_DFL && shared.before.sa_handler != SIG_IGN)
    shared.before.sa_handler(signal);
}

void on_signal(int signal, siginfo_t* info, void* context) {
  if (info->si_code != SI_TIMER || info->si_value.sival_ptr != &shared)
    return pass_on(signal, info, context);
  const int error = errno;
  ++shared.running;
  if (shared.recording) take_sample(*info, context);
  --shared.running;
  errno = error;
}

// The library is loaded, so it has the function or no library has it.
AsyncGetCallTrace find_walk() {
  void* const library = ::dlopen("libjvm.so", RTLD_LAZY | RTLD_NOLOAD);
  void* const found = ::dlsym(library ? library : RTLD_DEFAULT, "AsyncGetCallTrace");
  if (library) ::dlclose(library);
  return reinterpret_cast<AsyncGetCallTrace>(found);
}

}  // namespace

AsyncStacks& AsyncStacks::get() {
  static AsyncStacks* const instance = new AsyncStacks;
  return *instance;
}

bool AsyncStacks::is_supported() {
  return find_walk() != nullptr;
}

Status AsyncStacks::install_handler() {
  struct sigaction action {};
  if (::sigaction(SIGPROF, nullptr, &action) != 0 || action.sa_sigaction == on_signal) return {};
  shared.before = action;
  action = {};
  action.sa_sigaction = on_signal;
  action.sa_flags = SA_SIGINFO | SA_RESTART;
  ::sigemptyset(&action.sa_mask);
  if (::sigaction(SIGPROF, &action, nullptr) == 0) return {};
  return Error{no_events, "the signal SIGPROF cannot be handled"};
}

Status AsyncStacks::start(JavaVM* vm, uint64_t period, size_t frames,
                          const std::optional<CodeRange>& java_code) {
  shared.vm = vm;
  shared.walk = find_walk();
  shared.buffers = &buffers_;
  shared.depth = static_cast<jint>(frames + 1);
  shared.captures = java_code.has_value();
  shared.java_code = java_code.value_or(CodeRange());
  if (!buffers_.open(frames + 1, sizeof(AsyncFrame), java_code ? capture_words : 0))
    return Error{no_logs, "there is no memory for samples"};
  if (const auto installed = install_handler(); !installed) return installed;
  timers_.prepare(SIGPROF, &shared, period);
  shared.recording = true;
  return {};
}

// A handler that runs ends soon; one whose thread the kernel does not run now is waited for.
void AsyncStacks::stop() {
  timers_.clear();
  shared.recording = false;
  while (shared.running != 0) ::sched_yield();
}

std::string AsyncStacks::reason(int32_t outcome) {
  const auto index = static_cast<size_t>(-static_cast<int64_t>(outcome));
  if (outcome == not_attached) return "the thread was no thread of Java";
  return index < reasons.size() ? reasons[index] : "the JVM's code " + std::to_string(outcome);
}

}  // namespace pi::jprof
