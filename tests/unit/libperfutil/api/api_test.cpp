// SPDX-License-Identifier: MIT
// The C API as a program uses it: states, codes, texts; linked against the shared library.
#include "perfutil.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <thread>

#include "nrm2_file.h"
#include "temp_dir.h"

namespace {

using namespace pi;

TEST(PerfutilApi, EveryCodeHasItsOwnName) {
  for (const int rc : {0,    -1,   -3,   -4,   -5,   -6,   -8,   -87,  -200, -201, -202,
                       -205, -208, -209, -210, -211, -213, -219, -222, -229, -231, -241})
    EXPECT_EQ(std::strncmp(RcToString(rc), "PU_", 3), 0) << rc;
  EXPECT_EQ(std::strncmp(RcToString(PI_ERROR_FORKED), "PI_ERROR_FORKED: ", 17), 0);
  EXPECT_STREQ(RcToString(-99999), "unknown return code");
}

TEST(PerfutilApi, ITraceOnFailsWithoutTheModule) {
  if (IsDeviceDriverInstalled()) GTEST_SKIP() << "the module is loaded";
  const int pid = ::getpid();
  for (const int rc :
       {ITraceInit(0), ITraceOn(), ITraceOff(), ITraceTerminate(), ITraceDisable(),
        ITraceEnableAll(), ITraceEnableCurrent(), ITraceEnablePid(1), ITraceEnableGreater(1),
        ITraceEnableRange(1, 2), ITraceEnableList(&pid, 1), ITrace_On_CurPID(), ITrace_On_GTPID(1),
        ITrace_On_PIDList(&pid, 1), ITrace_Off()}) {
    EXPECT_EQ(rc, PU_ERROR_DRIVER_NOT_LOADED);
    EXPECT_NE(std::strstr(PiErrorText(), "run.itrace"), nullptr);
  }
  EXPECT_EQ(ITraceEnableRange(2, 1), PU_ERROR_INVALID_PARAMETER);
  EXPECT_EQ(ITraceEnableList(nullptr, 1), PU_ERROR_NULL_POINTER);
  EXPECT_EQ(ITraceSetSkipCount(50), PU_SUCCESS);
  EXPECT_EQ(ITrace_Set_Skip_Count(-1), PU_ERROR_INVALID_PARAMETER);
  pi_itrace_status status{};
  EXPECT_EQ(PiITraceStatus(&status), PU_ERROR_INVALID_PARAMETER);
  status.size = sizeof status;
  EXPECT_EQ(PiITraceStatus(&status), PU_ERROR_DRIVER_NOT_LOADED);
}

TEST(PerfutilApi, CallsBeforeInitFailWithNotInitialized) {
  for (const int rc : {TraceEnable(16), TraceDisable(16), TraceQueryMajor(16), SetProfilerRate(100),
                       TraceOn(), TraceOff(), TraceTerminate(), TraceWriteBufferToFile("/tmp/x"),
                       TraceSetStacks(3, 0), PiSetTprofEvent("page-faults", 1, PI_PRIV_BOTH, 0),
                       TraceSetTprofEvent(ALL_CPUS, 102, 1, PI_PRIV_BOTH)}) {
    EXPECT_EQ(rc, PU_ERROR_NOT_INITIALIZED);
    EXPECT_NE(std::strstr(PiErrorText(), "TraceInit"), nullptr);
  }
  pi_trace_status status{};
  status.size = sizeof status;
  EXPECT_EQ(PiTraceStatus(&status), PU_ERROR_NOT_INITIALIZED);
  EXPECT_EQ(IsTraceOn(), 0);
  EXPECT_EQ(IsTraceActive(), 0);
  EXPECT_EQ(TraceGetIntervalId(), 0u);
  EXPECT_EQ(PiCannotSee(0), nullptr);
  EXPECT_EQ(PiNote(0), nullptr);
}

TEST(PerfutilApi, WrongParametersAreRefusedAndSuccessClearsTheText) {
  EXPECT_EQ(PiSetSource(3), PU_ERROR_INVALID_PARAMETER);
  EXPECT_STRNE(PiErrorText(), "");
  EXPECT_EQ(PiSetSource(PI_SOURCE_AUTO), PU_SUCCESS);
  EXPECT_STREQ(PiErrorText(), "");
  EXPECT_EQ(TraceSetScope(9, 0), PU_ERROR_INVALID_PARAMETER);
  EXPECT_EQ(TraceSetScope(TRACE_SCOPE_PROCESS, 0), PU_ERROR_INVALID_PARAMETER);
  EXPECT_EQ(TraceSetScope(PI_SCOPE_AUTO, -1), PU_ERROR_INVALID_PARAMETER);
  EXPECT_EQ(TraceSetMode(3), PU_ERROR_INVALID_PARAMETER);
  EXPECT_EQ(TraceSetName(nullptr), PU_ERROR_NULL_POINTER);
  EXPECT_EQ(TraceSetName(""), PU_ERROR_INVALID_PARAMETER);
  EXPECT_EQ(TraceSetName(std::string(1024, 'x').c_str()), PU_ERROR_INVALID_PARAMETER);
  EXPECT_STREQ(TraceGetName(), PI_FILE_NAME_DEFAULT);
  EXPECT_EQ(TraceSetMode(COLLECTION_MODE_NORMAL), PU_SUCCESS);
  EXPECT_EQ(PiTraceStatus(nullptr), PU_ERROR_NULL_POINTER);
}

TEST(PerfutilApi, ErrorTextsBelongToTheThread) {
  EXPECT_EQ(PiSetSource(77), PU_ERROR_INVALID_PARAMETER);
  std::thread([] { EXPECT_STREQ(PiErrorText(), ""); }).join();
  EXPECT_STRNE(PiErrorText(), "");
}

TEST(PerfutilApi, ClockAndMachineFactsHaveValues) {
  const uint64_t first = ReadCycles();
  EXPECT_GE(ReadCycles(), first);
  EXPECT_GE(PiGetActiveProcessorCount(), 1);
  EXPECT_EQ(IsDeviceDriverInstalled() != 0, std::filesystem::exists("/dev/pitrace"));
}

class PerfutilTrace : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_EQ(PiSetSource(PI_SOURCE_PERF), PU_SUCCESS);
    ASSERT_EQ(TraceSetScope(PI_SCOPE_AUTO, ::getpid()), PU_SUCCESS);
    // The names of all processes of a busy machine fit.
    ASSERT_EQ(TraceSetMteSize(PI_MTE_BYTES_DEFAULT), PU_SUCCESS);
    if (TraceInit(1) != PU_SUCCESS) GTEST_SKIP() << "needs perf_event_open: " << PiErrorText();
  }
  void TearDown() override { TraceTerminate(); }
};

TEST_F(PerfutilTrace, SettingsAreFixedOnceInitialised) {
  EXPECT_EQ(PiSetSource(PI_SOURCE_AUTO), PU_ERROR_INCORRECT_STATE);
  EXPECT_EQ(TraceSetScope(PI_SCOPE_AUTO, 0), PU_ERROR_INCORRECT_STATE);
  EXPECT_EQ(TraceSetMteSize(1 << 20), PU_ERROR_INCORRECT_STATE);
  EXPECT_EQ(SetTraceAnonMTE(0), PU_ERROR_INCORRECT_STATE);
  EXPECT_EQ(TraceInit(1 << 20), PU_ERROR_INCORRECT_STATE);
}

TEST_F(PerfutilTrace, SmallSizesAreRaised) {
  TraceTerminate();
  ASSERT_EQ(TraceSetMteSize(1), PU_SUCCESS);
  ASSERT_EQ(TraceInit(1), PU_SUCCESS);
  pi_trace_status status{};
  status.size = sizeof status;
  ASSERT_EQ(PiTraceStatus(&status), PU_SUCCESS);
  EXPECT_EQ(status.trace_bytes, PI_BUFFER_BYTES_MIN);
  EXPECT_EQ(status.mte_bytes, PI_BUFFER_BYTES_MIN);
}

TEST_F(PerfutilTrace, NothingIsEnabledAtFirstAndQueriesReturnEnabledMajors) {
  for (int major = 1; major < 255; ++major) EXPECT_EQ(TraceQueryMajor(major), 0);
  EXPECT_EQ(TraceEnable(PI_MAJORS_TPROF), PU_SUCCESS);
  EXPECT_EQ(TraceQueryMajor(16), 1);
  EXPECT_EQ(TraceQueryMajor(25), 1);
  EXPECT_EQ(TraceQueryMajor(18), 0);
  EXPECT_EQ(TraceEnable(ALL_MAJORS), PU_SUCCESS);
  EXPECT_EQ(TraceQueryMajor(254), 1);
  EXPECT_EQ(TraceDisable(254), PU_SUCCESS);
  EXPECT_EQ(TraceQueryMajor(254), 0);
  EXPECT_EQ(TraceEnable(256), PU_ERROR_INVALID_PARAMETER);
  EXPECT_EQ(TraceEnable(-1), PU_ERROR_INVALID_PARAMETER);
}

TEST_F(PerfutilTrace, CallsInTheWrongStateAreRefused) {
  const test::TempDir dir;
  const std::string name = dir / "t.nrm2";
  EXPECT_EQ(TraceOff(), PU_ERROR_INCORRECT_STATE);
  EXPECT_EQ(TraceWriteBufferToFile(name.c_str()), PU_ERROR_INCORRECT_STATE);
  EXPECT_EQ(TraceOn(), PU_SUCCESS);
  EXPECT_EQ(IsTraceOn(), 1);
  EXPECT_EQ(TraceOn(), PU_ERROR_INCORRECT_STATE);
  EXPECT_EQ(SetProfilerRate(500), PU_ERROR_INCORRECT_STATE);
  EXPECT_EQ(TraceWriteBufferToFile(name.c_str()), PU_ERROR_INCORRECT_STATE);
  EXPECT_EQ(TraceOff(), PU_SUCCESS);
  EXPECT_EQ(IsTraceOn(), 0);
  EXPECT_EQ(TraceGetIntervalId(), 1u);
  EXPECT_EQ(TraceWriteBufferToFile(name.c_str()), PU_SUCCESS);
  const auto file = pi::test::parse_trace_file(pi::test::slurp(name));
  ASSERT_NE(file.find(0x100), nullptr);
  EXPECT_EQ(pi::test::info_values(file.find(0x100)->data, "source"),
            std::vector<std::string>{"perf"});
  EXPECT_EQ(pi::test::info_values(file.find(0x100)->data, "ended"),
            std::vector<std::string>{"off"});
}

TEST_F(PerfutilTrace, StatusHasSourceSizesAndRate) {
  EXPECT_EQ(SetProfilerRate(10001), PU_ERROR_INVALID_PARAMETER);
  EXPECT_EQ(SetProfilerRate(-1), PU_ERROR_INVALID_PARAMETER);
  EXPECT_EQ(SetProfilerRate(1000), PU_SUCCESS);
  pi_trace_status status{};
  status.size = sizeof status;
  ASSERT_EQ(PiTraceStatus(&status), PU_SUCCESS);
  EXPECT_EQ(status.source, PI_SOURCE_PERF);
  EXPECT_EQ(status.trace_bytes, PI_BUFFER_BYTES_MIN);
  EXPECT_EQ(status.mte_bytes, PI_MTE_BYTES_DEFAULT);
  EXPECT_EQ(status.rate, 1000u);
  EXPECT_EQ(status.tick_ns, 997130u);
  EXPECT_EQ(status.cpus, static_cast<uint32_t>(PiGetActiveProcessorCount()));
  EXPECT_EQ(status.recorded_bytes, 0u);
  EXPECT_NE(PiCannotSee(0), nullptr);
  EXPECT_EQ(SetProfilerRate(0), PU_SUCCESS);
  ASSERT_EQ(PiTraceStatus(&status), PU_SUCCESS);
  EXPECT_EQ(status.rate, 100u);
}

TEST_F(PerfutilTrace, StacksAreInTheStatusAndCannotChangeWhileOn) {
  EXPECT_EQ(TraceSetStacks(4, 0), PU_ERROR_INVALID_PARAMETER);
  EXPECT_EQ(TraceSetStacks(PI_STACKS_BOTH, 1024), PU_ERROR_INVALID_PARAMETER);
  EXPECT_EQ(TraceSetStacks(PI_STACKS_BOTH, -1), PU_ERROR_INVALID_PARAMETER);
  EXPECT_EQ(TraceSetStacks(PI_STACKS_USER, 0), PU_SUCCESS);
  pi_trace_status status{};
  status.size = sizeof status;
  ASSERT_EQ(PiTraceStatus(&status), PU_SUCCESS);
  EXPECT_EQ(status.stacks, PI_STACKS_USER);
  EXPECT_EQ(status.depth, 64);
  EXPECT_EQ(TraceOn(), PU_SUCCESS);
  EXPECT_EQ(TraceSetStacks(PI_STACKS_OFF, 0), PU_ERROR_INCORRECT_STATE);
}

TEST_F(PerfutilTrace, AnEventIsSetByNameOrNumberUntilARateIs) {
  EXPECT_EQ(PiSetTprofEvent(nullptr, 1, PI_PRIV_BOTH, 0), PU_ERROR_NULL_POINTER);
  EXPECT_EQ(PiSetTprofEvent("page-faults", (uint64_t{1} << 62) + 1, PI_PRIV_BOTH, 0),
            PU_ERROR_INVALID_PARAMETER);
  EXPECT_EQ(PiSetTprofEvent("page-faults", 1, 0, 0), PU_ERROR_INVALID_PRIVILEGE);
  EXPECT_EQ(PiSetTprofEvent("no such event", 1, PI_PRIV_BOTH, 0), PU_ERROR_INVALID_METRIC);
  EXPECT_EQ(PiSetTprofEvent("page-faults", 1, PI_PRIV_BOTH, 1), PU_ERROR_NOT_SUPPORTED);
  EXPECT_EQ(TraceSetTprofEvent(0, 102, 1, PI_PRIV_BOTH), PU_ERROR_NOT_SUPPORTED);
  EXPECT_EQ(TraceSetTprofEvent(ALL_CPUS, 100, 1, PI_PRIV_BOTH), PU_ERROR_INVALID_METRIC);
  EXPECT_EQ(TraceSetTprofEvent(ALL_CPUS, 196, 1, PI_PRIV_BOTH), PU_ERROR_INVALID_METRIC);
  EXPECT_EQ(TraceSetTprofEvent(ALL_CPUS, 125, 0, PI_PRIV_BOTH), PU_ERROR_INVALID_PARAMETER);
  EXPECT_EQ(TraceSetTprofEvent(ALL_CPUS, 104, 1, PI_PRIV_BOTH), PU_ERROR_EVENT_NOT_SUPPORTED);
  EXPECT_EQ(PiSetTprofEvent("page-faults", 3, PI_PRIV_USER, 0), PU_SUCCESS);
  pi_trace_status status{};
  status.size = sizeof status;
  ASSERT_EQ(PiTraceStatus(&status), PU_SUCCESS);
  EXPECT_STREQ(status.event, "page-faults");
  EXPECT_EQ(status.period, 3u);
  EXPECT_EQ(status.rate, 0u);
  EXPECT_EQ(status.tick_ns, 0u);
  EXPECT_EQ(TraceOn(), PU_SUCCESS);
  EXPECT_EQ(PiSetTprofEvent("page-faults", 3, PI_PRIV_USER, 0), PU_ERROR_INCORRECT_STATE);
  EXPECT_EQ(TraceOff(), PU_SUCCESS);
  EXPECT_EQ(SetProfilerRate(0), PU_SUCCESS);
  ASSERT_EQ(PiTraceStatus(&status), PU_SUCCESS);
  EXPECT_STREQ(status.event, "");
  EXPECT_EQ(status.rate, 100u);
}

TEST_F(PerfutilTrace, WithoutACountAnEventHasItsDefaultPeriod) {
  pi_trace_status status{};
  status.size = sizeof status;
  ASSERT_EQ(PiSetTprofEvent("page-faults", 0, PI_PRIV_USER, 0), PU_SUCCESS);
  ASSERT_EQ(PiTraceStatus(&status), PU_SUCCESS);
  EXPECT_EQ(status.period, 1u);
  ASSERT_EQ(PiSetTprofEvent("cpu-clock", 0, PI_PRIV_USER, 0), PU_SUCCESS);
  ASSERT_EQ(PiTraceStatus(&status), PU_SUCCESS);
  EXPECT_EQ(status.period, PI_EVENT_PERIOD_DEFAULT);
}

TEST(PerfutilEvents, SoftwareEventsWorkAndTheClassicListsAgree) {
  pi_event event{};
  EXPECT_EQ(PiEvent(0, nullptr), PU_ERROR_NULL_POINTER);
  EXPECT_EQ(PiEvent(0, &event), PU_ERROR_INVALID_PARAMETER);
  event.size = sizeof event;
  int originals = 0, supported = 0;
  bool clock_seen = false;
  for (unsigned index = 0; PiEvent(index, &event) == PU_SUCCESS; ++index) {
    EXPECT_EQ(event.works == 0, *event.reason != '\0') << event.name;
    originals += event.id != 0;
    supported += event.id != 0 && event.works != 0;
    clock_seen |= std::strcmp(event.name, "cpu-clock") == 0;
  }
  EXPECT_TRUE(clock_seen);
  EXPECT_EQ(originals, 95);
  EXPECT_EQ(GetNumberOfPerfCounterEventsSupported(), supported);
  const int* ids = nullptr;
  const char* const* names = nullptr;
  EXPECT_EQ(GetSupportedPerfCounterEventIdList(nullptr), PU_ERROR_NULL_POINTER);
  EXPECT_EQ(GetSupportedPerfCounterEventIdList(&ids), PU_SUCCESS);
  EXPECT_EQ(GetSupportedPerfCounterEventNameList(&names), PU_SUCCESS);
  for (int i = 1; i < supported; ++i) EXPECT_LT(ids[i - 1], ids[i]);
}

TEST(PerfutilAboveIdle, CountersAddUpAndGrow) {
  EXPECT_EQ(IsAiSupported(), 1);
  EXPECT_EQ(IsAiActive(), 0);
  EXPECT_EQ(PiAiSource(), 0);
  EXPECT_EQ(AiTerminate(), PU_ERROR_NOT_INITIALIZED);
  int bytes = 0;
  ai_counters* counters = AiAllocCounters(&bytes);
  ASSERT_NE(counters, nullptr);
  EXPECT_EQ(static_cast<size_t>(bytes) / sizeof *counters,
            static_cast<size_t>(::sysconf(_SC_NPROCESSORS_CONF)));
  EXPECT_EQ(AiGetCounters(counters), PU_ERROR_NOT_INITIALIZED);
  ASSERT_EQ(AiInit(), PU_SUCCESS) << PiErrorText();
  EXPECT_EQ(AiInit(), PU_ERROR_INCORRECT_STATE);
  EXPECT_EQ(IsAiActive(), 1);
  EXPECT_EQ(AiGetCounters(nullptr), PU_ERROR_NULL_POINTER);
  ::usleep(50'000);
  ASSERT_EQ(AiGetCounters(counters), PU_SUCCESS);
  EXPECT_GE(counters[0].CurTime, 50'000'000u);
  EXPECT_EQ(counters[0].CurTime,
            counters[0].IdleTime + counters[0].BusyTime + counters[0].IntrTime);
  EXPECT_EQ(AiZeroCounters(counters), PU_SUCCESS);
  EXPECT_EQ(counters[0].CurTime, 0u);
  EXPECT_EQ(AiTerminate(), PU_SUCCESS);
  AiFreeCounters(counters);
}

TEST_F(PerfutilTrace, TerminateEndsARunningTraceAndAllowsANewOne) {
  EXPECT_EQ(TraceOn(), PU_SUCCESS);
  EXPECT_EQ(TraceTerminate(), PU_SUCCESS);
  EXPECT_EQ(TraceTerminate(), PU_ERROR_NOT_INITIALIZED);
  EXPECT_EQ(TraceInit(1 << 20), PU_SUCCESS);
}

}  // namespace
