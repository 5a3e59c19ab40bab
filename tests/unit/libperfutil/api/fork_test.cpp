// SPDX-License-Identifier: MIT
// Children of a process that traces: which state they share with their parent, and which they do
// not.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <climits>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <thread>

#include "perfutil.h"
#include "perfutil_ptt.h"
#include "temp_dir.h"

namespace {

using namespace pi;

#if defined(__SANITIZE_THREAD__)
constexpr bool under_thread_sanitizer = true;
#else
constexpr bool under_thread_sanitizer = false;
#endif

// Runs work in a child. Returns the number of the first failed check, 0 for none, a negative number
// for a signal. forked_by: the function that forks.
template <class Work>
int in_child(
    Work work, long (*forked_by)() = [] { return long{::fork()}; }) {
  const auto child = static_cast<pid_t>(forked_by());
  if (child == 0) {
    ::alarm(20);  // a child that hangs is killed
    ::_exit(work());
  }
  int status = 0;
  EXPECT_EQ(::waitpid(child, &status, 0), child);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

long plain_system_call() {
  return ::syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
}

uint64_t ticks_so_far() {
  pi_trace_status status{};
  status.size = sizeof status;
  EXPECT_EQ(PiTraceStatus(&status), PU_SUCCESS);
  return status.trace.written;
}

// All calls of a child on its parent's trace are refused, with the reason.
int try_all_calls() {
  const int refused[] = {TraceOff(),
                         TraceOn(),
                         TraceSuspend(),
                         TraceResume(),
                         TraceDiscard(),
                         TraceEnable(16),
                         TraceDisable(16),
                         TraceQueryMajor(16),
                         SetProfilerRate(100),
                         TraceSetStacks(PI_STACKS_OFF, 0),
                         TraceSetTprofEvent(ALL_CPUS, 125, 1, PI_PRIV_BOTH),
                         PiSetTprofEvent("page-faults", 1, PI_PRIV_BOTH, 0),
                         TraceWriteBufferToFile("/dev/null"),
                         ITraceInit(0),
                         PiITraceInit(0, 0, 0),
                         ITraceDisable(),
                         ITraceTerminate(),
                         TraceTerminate()};
  int check = 1;
  for (const int rc : refused) {
    if (rc != PI_ERROR_FORKED) return check;
    ++check;
  }
  const std::string parent = "process " + std::to_string(::getppid());
  if (std::strstr(PiErrorText(), parent.c_str()) == nullptr) return 100;
  pi_trace_status status{};
  status.size = sizeof status;
  if (PiTraceStatus(&status) != PI_ERROR_FORKED) return 101;
  if (IsTraceOn() != 0 || IsTraceActive() != 0 || TraceGetIntervalId() != 0) return 102;
  if (PiCannotSee(0) != nullptr || PiNote(0) != nullptr) return 103;
  return 0;
}

class ForkedChild : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_EQ(PiSetSource(PI_SOURCE_PERF), PU_SUCCESS);
    ASSERT_EQ(TraceSetScope(PI_SCOPE_AUTO, ::getpid()), PU_SUCCESS);
    ASSERT_EQ(TraceSetMteSize(PI_MTE_BYTES_DEFAULT), PU_SUCCESS);
    if (TraceInit(PI_TRACE_BYTES_DEFAULT) != PU_SUCCESS)
      GTEST_SKIP() << "needs perf_event_open: " << PiErrorText();
    // Context switches are not enabled: on a busy machine their records would fill the buffer and
    // end the trace.
    ASSERT_EQ(TraceEnable(0xff), PU_SUCCESS);  // ticks and names
    ASSERT_EQ(TraceEnable(0x60), PU_SUCCESS);
    ASSERT_EQ(SetProfilerRate(100), PU_SUCCESS);
    ASSERT_EQ(TraceOn(), PU_SUCCESS);
  }
  void TearDown() override { TraceTerminate(); }

  // Ticks are recorded, and the trace can be written: nothing has changed for the parent.
  void expect_recording() {
    EXPECT_EQ(IsTraceActive(), 1);
    const uint64_t before = ticks_so_far();
    const timespec limit = deadline();
    while (ticks_so_far() == before && now_before(limit)) {
    }
    EXPECT_GT(ticks_so_far(), before);
    // After a hook that found no trace, the next attempt to find one is 0.1 s later.
    int rc = PU_ERROR_NO_BUFFER;
    while (rc == PU_ERROR_NO_BUFFER && now_before(limit)) rc = TraceHook(0x60, 1, 0, 0);
    EXPECT_EQ(rc, PU_SUCCESS);
    EXPECT_EQ(TraceOff(), PU_SUCCESS);
    const test::TempDir dir;
    EXPECT_EQ(TraceWriteBufferToFile((dir / "t.nrm2").c_str()), PU_SUCCESS) << PiErrorText();
  }

 private:
  static timespec deadline() {
    timespec now;
    ::clock_gettime(CLOCK_MONOTONIC, &now);
    now.tv_sec += 60;
    return now;
  }
  static bool now_before(const timespec& limit) {
    timespec now;
    ::clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec < limit.tv_sec;
  }
};

TEST_F(ForkedChild, CallsOnTheParentsTraceAreRefused) {
  EXPECT_EQ(in_child(try_all_calls), 0);
  expect_recording();
}

TEST_F(ForkedChild, CallsAreRefusedAlsoAfterAForkWithoutHandlers) {
  if (under_thread_sanitizer) GTEST_SKIP() << "the sanitizer must see the fork";
  EXPECT_EQ(in_child(try_all_calls, plain_system_call), 0);
  expect_recording();
}

TEST_F(ForkedChild, EndsWithoutAnEffectOnTheTrace) {
  EXPECT_EQ(in_child([] {
              std::exit(0);
              return 1;
            }),
            0);
  expect_recording();
}

TEST_F(ForkedChild, HasItsOwnUserHooks) {
  EXPECT_EQ(in_child([] { return TraceHook(0x60, 2, 0, 0) == PU_SUCCESS ? 0 : 1; }), 0);
  expect_recording();
}

TEST_F(ForkedChild, MayStartItsOwnTrace) {
  if (under_thread_sanitizer) GTEST_SKIP() << "the sanitizer lets such a child start no threads";
  EXPECT_EQ(in_child([] {
              if (TraceInit(1) != PU_SUCCESS) return 1;
              if (TraceOn() != PU_SUCCESS) return 2;
              if (TraceGetIntervalId() != 1) return 3;
              if (TraceOff() != PU_SUCCESS) return 4;
              if (TraceTerminate() != PU_SUCCESS) return 5;
              if (TraceTerminate() != PU_ERROR_NOT_INITIALIZED) return 6;
              // A grandchild's parent is now a process without a trace.
              return in_child([] { return TraceOff() == PU_ERROR_NOT_INITIALIZED ? 0 : 1; });
            }),
            0);
  expect_recording();
}

TEST_F(ForkedChild, KeepsNoneOfItsParentsDescriptors) {
  EXPECT_EQ(in_child([] {
              char target[PATH_MAX];
              for (const auto& each : std::filesystem::directory_iterator("/proc/self/fd")) {
                const ssize_t size = ::readlink(each.path().c_str(), target, sizeof target - 1);
                if (size < 0) continue;
                target[size] = '\0';
                if (std::strstr(target, "perf_event") || std::strstr(target, "hooks")) return 1;
              }
              return 0;
            }),
            0);
  expect_recording();
}

// Another thread of the parent holds the library's lock at most of these moments.
TEST_F(ForkedChild, IsNotBlockedByALockHeldInTheParent) {
  std::atomic<bool> stop = false;
  std::thread caller([&] {
    while (!stop) (void)PiCannotSee(0);
  });
  for (int i = 0; i < 100; ++i)
    EXPECT_EQ(in_child([] { return TraceOff() == PI_ERROR_FORKED ? 0 : 1; }), 0);
  stop = true;
  caller.join();
  expect_recording();
}

TEST(ForkedChildOfAProcessWithoutATrace, KeepsTheSettingsAndMustInitialise) {
  ASSERT_EQ(TraceSetName("/tmp/of-the-parent.nrm2"), PU_SUCCESS);
  EXPECT_EQ(in_child([] {
              if (TraceOff() != PU_ERROR_NOT_INITIALIZED) return 1;
              return std::strcmp(TraceGetName(), "/tmp/of-the-parent.nrm2");
            }),
            0);
  ASSERT_EQ(TraceSetName(PI_FILE_NAME_DEFAULT), PU_SUCCESS);
}

TEST(ForkedChildOfACountingProcess, CountsNothingAndStopsNothing) {
  const int event = PiInitPerfCounterEvent("page-faults", PI_PRIV_BOTH);
  if (event < 0) GTEST_SKIP() << "needs perf_event_open: " << PiErrorText();
  EXPECT_EQ(in_child([=] {
              if (AnyPerfCounterEventActive() != 0) return 1;
              if (StopPerfCounterEvent(event) != PU_ERROR_EVENT_NOT_COUNTING) return 2;
              return 0;
            }),
            0);
  uint64_t* const counts = AllocCtrValueArray(nullptr);
  EXPECT_EQ(ReadPerfCounterEvent(event, counts, nullptr), PU_SUCCESS);
  FreeCtrValueArray(counts);
  EXPECT_EQ(TerminatePerfCounterEvent(event), PU_SUCCESS);
}

TEST(ForkedChildOfAProcessThatMeasures, HasNoHandleOfItsParentAndMayOpenItsOwn) {
  void* handle = nullptr;
  if (CpiInit(0, &handle) != PU_SUCCESS) GTEST_SKIP() << "counts no cycles: " << PiErrorText();
  EXPECT_EQ(in_child([=] {
              if (CpiStart(handle) != PU_ERROR_INVALID_PARAMETER) return 1;
              if (CpiTerminate(handle) != PU_ERROR_INVALID_PARAMETER) return 2;
              void* own = nullptr;
              return CpiInit(0, &own) == PU_SUCCESS ? 0 : 3;
            }),
            0);
  EXPECT_EQ(CpiStart(handle), PU_SUCCESS) << PiErrorText();
  EXPECT_EQ(CpiTerminate(handle), PU_SUCCESS);
}

TEST(ForkedChildOfAProcessWithAboveIdle, DoesNotInheritAboveIdle) {
  if (AiInit() != PU_SUCCESS) GTEST_SKIP() << "needs a source of idle time: " << PiErrorText();
  EXPECT_EQ(in_child([] {
              if (IsAiActive() != 0) return 1;
              if (AiTerminate() != PU_ERROR_NOT_INITIALIZED) return 2;
              return 0;
            }),
            0);
  EXPECT_EQ(IsAiActive(), 1);
  EXPECT_EQ(AiTerminate(), PU_SUCCESS);
}

TEST(ForkedChildOfAProcessWithPtt, MayUseItAsItsOwn) {
  const int cycles = PTT_METRIC_CYCLES;
  ASSERT_EQ(PttInit(1, &cycles, PI_PRIV_BOTH), PU_SUCCESS) << PiErrorText();
  EXPECT_EQ(in_child([=] {
              uint64_t value = 0;
              if (PttQueryState() != 0) return 1;
              if (PttInit(1, &cycles, PI_PRIV_BOTH) != PU_SUCCESS) return 2;
              if (PttInitThread(0) != PU_SUCCESS) return 3;
              if (PttGetMetricData(&value) != PU_SUCCESS) return 4;
              return PttTerminate();
            }),
            0);
  EXPECT_EQ(PttQueryState(), 1);
  EXPECT_EQ(PttTerminate(), PU_SUCCESS);
}

}  // namespace
