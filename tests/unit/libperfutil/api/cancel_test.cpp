// SPDX-License-Identifier: MIT
// Threads that are cancelled (pthread_cancel) while they are in the library.
#include <gtest/gtest.h>
#include <pthread.h>
#include <unistd.h>

#include <chrono>
#include <functional>
#include <string>
#include <thread>

#include "perfutil.h"
#include "perfutil_ptt.h"
#include "temp_dir.h"

namespace {

using namespace pi;

struct Outcome {
  bool returned = false;   // the call returned to the thread
  bool cancelled = false;  // the thread was cancelled at a cancellation point after the call
};

struct Run {
  std::function<void()> call;
  Outcome outcome;
};

void* call_with_a_cancellation_pending(void* argument) {
  Run& run = *static_cast<Run*>(argument);
  ::pthread_cancel(::pthread_self());
  run.call();
  run.outcome.returned = true;
  ::pthread_testcancel();
  return nullptr;
}

// A pending cancellation acts at the first cancellation point: that would be one of the library's
// system calls if the library did not disable cancellation.
Outcome cancelled_in(std::function<void()> call) {
  Run run{std::move(call), {}};
  pthread_t thread;
  EXPECT_EQ(::pthread_create(&thread, nullptr, call_with_a_cancellation_pending, &run), 0);
  void* result = nullptr;
  EXPECT_EQ(::pthread_join(thread, &result), 0);
  run.outcome.cancelled = result == PTHREAD_CANCELED;
  return run.outcome;
}

void expect_returns(const char* what, std::function<void()> call) {
  const Outcome outcome = cancelled_in(std::move(call));
  EXPECT_TRUE(outcome.returned) << what;
  EXPECT_TRUE(outcome.cancelled) << what;
}

class CancelledThread : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_EQ(PiSetSource(PI_SOURCE_PERF), PU_SUCCESS);
    ASSERT_EQ(TraceSetScope(PI_SCOPE_AUTO, ::getpid()), PU_SUCCESS);
  }
  void TearDown() override { TraceTerminate(); }
};

TEST_F(CancelledThread, FinishesItsHookSoThatOtherThreadsCanWriteHooks) {
  if (TraceInit(1) != PU_SUCCESS) GTEST_SKIP() << "needs perf_event_open: " << PiErrorText();
  ASSERT_EQ(TraceEnable(0x60), PU_SUCCESS);
  ASSERT_EQ(TraceOn(), PU_SUCCESS);
  // The first hook connects the process. After a hook of another test that found no trace, the next
  // attempt is 0.1 s later. The other hooks are written.
  int stored = 0;
  for (int i = 0; i < 10000 && stored < 3; ++i) {
    int rc = 1;
    expect_returns("TraceHook", [&] { rc = TraceHook(0x60, 1, 1, 0, 7); });
    stored += rc == PU_SUCCESS;
    if (rc == PU_ERROR_NO_BUFFER) std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  EXPECT_EQ(stored, 3);
  std::thread other([] { EXPECT_EQ(TraceHook(0x60, 2, 0, 0), PU_SUCCESS); });
  other.join();
}

TEST_F(CancelledThread, FinishesAHookWithoutATrace) {
  expect_returns("TraceHook", [] { TraceHook(0x60, 1, 0, 0); });
  std::thread other([] { EXPECT_EQ(TraceHook(0x60, 2, 0, 0), PU_ERROR_NO_BUFFER); });
  other.join();
}

TEST_F(CancelledThread, FinishesEveryCallOnTheTrace) {
  const test::TempDir dir;
  const std::string name = dir / "t.nrm2", buffers = dir / "buffers.nrm2";
  ASSERT_EQ(TraceSetName(name.c_str()), PU_SUCCESS);
  ASSERT_EQ(TraceSetMteSize(PI_MTE_BYTES_DEFAULT), PU_SUCCESS);
  ASSERT_EQ(TraceSetMode(COLLECTION_MODE_WRAP), PU_SUCCESS);
  int rc = 1;
  expect_returns("TraceInit", [&] { rc = TraceInit(1 << 20); });
  if (rc == PU_ERROR_NOT_SUPPORTED) GTEST_SKIP() << "needs perf_event_open";
  ASSERT_EQ(rc, PU_SUCCESS);
  expect_returns("TraceEnable", [&] { rc = TraceEnable(PI_MAJORS_TPROF); });
  EXPECT_EQ(rc, PU_SUCCESS);
  expect_returns("TraceOn", [&] { rc = TraceOn(); });
  EXPECT_EQ(rc, PU_SUCCESS);
  expect_returns("TraceSuspend", [&] { rc = TraceSuspend(); });
  EXPECT_EQ(rc, PU_SUCCESS);
  expect_returns("TraceResume", [&] { rc = TraceResume(); });
  EXPECT_EQ(rc, PU_SUCCESS);
  expect_returns("TraceWriteBufferToFile", [&] { rc = TraceWriteBufferToFile(buffers.c_str()); });
  EXPECT_EQ(rc, PU_SUCCESS);
  expect_returns("TraceOff", [&] { rc = TraceOff(); });
  EXPECT_EQ(rc, PU_SUCCESS);
  expect_returns("TraceTerminate", [&] { rc = TraceTerminate(); });
  EXPECT_EQ(rc, PU_SUCCESS);
  ASSERT_EQ(TraceSetMode(COLLECTION_MODE_NORMAL), PU_SUCCESS);
  ASSERT_EQ(TraceSetName(PI_FILE_NAME_DEFAULT), PU_SUCCESS);
}

TEST_F(CancelledThread, FinishesAllOtherCalls) {
  const test::TempDir dir;
  expect_returns("the questions", [] {
    (void)GetDDVersionEx();
    (void)IsTprofSupported();
    (void)GetProcessorSpeed();
    (void)GetActiveProcessorList(nullptr, 0);
    (void)GetNumberOfPerfCounterEventsSupported();
    (void)GetNumberOfSimultaneousPerfCounterEventsSupported();
  });
  expect_returns("PiLoadEventDefinitions",
                 [&] { (void)PiLoadEventDefinitions((dir / "none").c_str()); });
  expect_returns("counters", [] {
    const int event = PiInitPerfCounterEvent("page-faults", PI_PRIV_BOTH);
    if (event > 0) (void)TerminatePerfCounterEvent(event);
  });
  expect_returns("AboveIdle", [] {
    (void)AiInit();
    (void)AiTerminate();
  });
  expect_returns("PTT", [] {
    const int metrics[] = {PTT_METRIC_CYCLES, PI_PTT_METRIC_PAGE_FAULTS};
    uint64_t values[MAX_PTT_METRICS];
    (void)PttInit(2, metrics, PI_PRIV_BOTH);
    (void)PttInitThread(0);
    (void)PttGetMetricData(values);
    (void)PttTerminate();
  });
  expect_returns("ITraceOn", [] {
    (void)ITraceOn();
    (void)ITraceOff();
  });
}

}  // namespace
