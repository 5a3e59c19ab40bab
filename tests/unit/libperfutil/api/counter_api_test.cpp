// SPDX-License-Identifier: MIT
// Counters, cycles per instruction and registers as a program uses them through the C API.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <numeric>
#include <string>
#include <vector>

#include "perfutil.h"
#include "temp_dir.h"

namespace {

using namespace pi;

using Values = std::unique_ptr<uint64_t, void (*)(uint64_t*)>;

Values values(size_t* count = nullptr) {
  int bytes = 0;
  Values array(AllocCtrValueArray(&bytes), FreeCtrValueArray);
  if (count != nullptr) *count = static_cast<size_t>(bytes) / sizeof(uint64_t);
  return array;
}

TEST(CounterApi, NumbersAndNamesMapToEachOther) {
  EXPECT_STREQ(GetPerfCounterEventNameFromId(102), "INSTR");
  EXPECT_EQ(GetPerfCounterEventIdFromName("instr"), 102);
  EXPECT_EQ(GetPerfCounterEventIdFromName("page-faults"), 0);
  EXPECT_EQ(GetPerfCounterEventIdFromName(nullptr), 0);
  for (const int none : {-1, 0, 100, 196}) {
    EXPECT_EQ(GetPerfCounterEventNameFromId(none), nullptr);
    EXPECT_EQ(GetPerfCounterEventInfoFromId(none), nullptr);
    EXPECT_EQ(IsPerfCounterEventSupported(none), 0);
  }
  const auto* const info = GetPerfCounterEventInfoFromId(101);
  ASSERT_NE(info, nullptr);
  EXPECT_EQ(info->id, 101);
  EXPECT_STREQ(info->name, "NONHALTED_CYCLES");
  EXPECT_STRNE(info->description, "");
}

TEST(CounterApi, InactiveAndUnknownEventsAreRefused) {
  const auto counts = values();
  for (const int rc :
       {StopPerfCounterEvent(102), ResumePerfCounterEvent(102), ResetPerfCounterEvent(102),
        ReadPerfCounterEvent(102, counts.get(), nullptr), TerminatePerfCounterEvent(102)})
    EXPECT_EQ(rc, PU_ERROR_EVENT_NOT_COUNTING);
  EXPECT_EQ(IsPerfCounterEventActive(102), 0);
  EXPECT_EQ(AnyPerfCounterEventActive(), 0);
  EXPECT_EQ(InitPerfCounterEvent(99, PI_PRIV_BOTH), PU_ERROR_INVALID_METRIC);
  EXPECT_EQ(InitPerfCounterEvent(125, 7), PU_ERROR_INVALID_PRIVILEGE);
  EXPECT_EQ(InitPerfCounterEvent(104, PI_PRIV_BOTH), PU_ERROR_EVENT_NOT_SUPPORTED);
  EXPECT_EQ(PiInitPerfCounterEvent(nullptr, PI_PRIV_BOTH), PU_ERROR_NULL_POINTER);
  EXPECT_EQ(PiInitPerfCounterEvent("no-such-event", PI_PRIV_BOTH), PU_ERROR_INVALID_METRIC);
  EXPECT_NE(std::strstr(PiErrorText(), "no-such-event"), nullptr);
  EXPECT_EQ(ZeroCtrValueArray(nullptr), PU_ERROR_NULL_POINTER);
}

TEST(CounterApi, AnEventExistsFromInitToTerminate) {
  const int event = PiInitPerfCounterEvent("context-switches", PI_PRIV_BOTH);
  if (event == PU_ERROR_ACCESS_DENIED) GTEST_SKIP() << PiErrorText();
  ASSERT_GT(event, 0) << PiErrorText();
  EXPECT_EQ(IsPerfCounterEventActive(event), 1);
  EXPECT_EQ(AnyPerfCounterEventActive(), 1);
  EXPECT_EQ(PiInitPerfCounterEvent("context-switches", PI_PRIV_BOTH),
            PU_ERROR_EVENT_ALREADY_COUNTING);
  size_t count = 0;
  const auto counts = values(&count), times = values();
  const auto sum = [&] { return std::accumulate(counts.get(), counts.get() + count, uint64_t{0}); };
  constexpr int switches = 20;
  for (int i = 0; i < switches; ++i) ::usleep(1000);
  ASSERT_EQ(StopPerfCounterEvent(event), PU_SUCCESS);
  EXPECT_EQ(ReadPerfCounterEvent(event, nullptr, nullptr), PU_ERROR_NULL_POINTER);
  ASSERT_EQ(ReadPerfCounterEvent(event, counts.get(), times.get()), PU_SUCCESS);
  EXPECT_GE(sum(), static_cast<uint64_t>(switches));
  EXPECT_GT(times.get()[0], 0u);
  ASSERT_EQ(ResetPerfCounterEvent(event), PU_SUCCESS);
  ASSERT_EQ(ReadPerfCounterEvent(event, counts.get(), nullptr), PU_SUCCESS);
  EXPECT_EQ(sum(), 0u);
  ASSERT_EQ(ResumePerfCounterEvent(event), PU_SUCCESS);
  EXPECT_EQ(TerminatePerfCounterEvent(event), PU_SUCCESS);
  EXPECT_EQ(AnyPerfCounterEventActive(), 0);
}

TEST(CounterApi, UserDefinedEventsAreListedFirstAndCounted) {
  const test::TempDir directory;
  const auto file = directory.write("events", "MY_FAULTS page-faults faults of all processes\n");
  EXPECT_EQ(PiLoadEventDefinitions(nullptr), PU_ERROR_NULL_POINTER);
  EXPECT_EQ(PiLoadEventDefinitions((directory / "none").c_str()), PU_ERROR_FILE);
  ASSERT_EQ(PiLoadEventDefinitions(file.c_str()), PU_SUCCESS);
  pi_event event{};
  EXPECT_EQ(PiCounterEvent(0, &event), PU_ERROR_INVALID_PARAMETER);
  event.size = sizeof event;
  ASSERT_EQ(PiCounterEvent(0, &event), PU_SUCCESS);
  EXPECT_STREQ(event.group, "own");
  EXPECT_STREQ(event.name, "MY_FAULTS");
  EXPECT_STREQ(event.meaning, "faults of all processes");
  if (event.works != 0) {
    const int number = PiInitPerfCounterEvent("MY_FAULTS", PI_PRIV_BOTH);
    EXPECT_GT(number, 0);
    EXPECT_EQ(TerminatePerfCounterEvent(number), PU_SUCCESS);
  }
  // A second definition replaces the first, whose texts stay valid.
  const char* const old_meaning = event.meaning;
  directory.write("events", "MY_FAULTS no-such-event other\n");
  ASSERT_EQ(PiLoadEventDefinitions(file.c_str()), PU_SUCCESS);
  ASSERT_EQ(PiCounterEvent(0, &event), PU_SUCCESS);
  EXPECT_STREQ(event.meaning, "other");
  EXPECT_EQ(event.works, 0);
  EXPECT_STREQ(old_meaning, "faults of all processes");
  EXPECT_EQ(PiInitPerfCounterEvent("MY_FAULTS", PI_PRIV_BOTH), PU_ERROR_INVALID_METRIC);
}

TEST(CpiApi, WrongUseAndMissingHardwareAreReported) {
  void* handle = &handle;
  EXPECT_EQ(CpiInit(PI_CPI_RAW, nullptr), PU_ERROR_NULL_POINTER);
  EXPECT_EQ(CpiInit(0x100, &handle), PU_ERROR_INVALID_PARAMETER);
  EXPECT_EQ(handle, nullptr);
  EXPECT_EQ(PiCpiInit(0, 0, &handle), PU_ERROR_INVALID_PRIVILEGE);
  EXPECT_EQ(PiCpiInitProcess(0, PI_PRIV_BOTH, &handle), PU_ERROR_INVALID_PARAMETER);
  const cpi_data* data = nullptr;
  for (const int rc : {CpiStart(nullptr), CpiGet(&handle, &data), CpiTerminate(&handle),
                       CpiGetCurrentMode(nullptr), CpiSetTraceHookId(nullptr, 1, "x"),
                       CpiGetAndTrace(nullptr, 1, 0, nullptr, nullptr)})
    EXPECT_EQ(rc, PU_ERROR_INVALID_PARAMETER);
  if (IsCpiSupported() == 0) {
    const int rc = CpiInit(PI_CPI_RAW, &handle);
    EXPECT_TRUE(rc == PU_ERROR_EVENT_NOT_SUPPORTED || rc == PU_ERROR_ACCESS_DENIED) << rc;
    EXPECT_STRNE(PiErrorText(), "");
    EXPECT_EQ(handle, nullptr);
  }
}

TEST(MsrApi, AnUnreadableRegisterHasTheDocumentedValue) {
  uint64_t value = 1;
  EXPECT_EQ(PiReadMsr(0, 0x10, nullptr), PU_ERROR_NULL_POINTER);
  EXPECT_EQ(PiReadMsr(-1, 0x10, &value), PU_ERROR_INVALID_PARAMETER);
  EXPECT_EQ(value, PI_MSR_UNREADABLE);
  EXPECT_NE(PiReadMsr(65535, 0x10, &value), PU_SUCCESS);
  EXPECT_EQ(value, 0xBAD0BAD1BAD2BAD3ull);
  EXPECT_EQ(PiWriteMsr(-1, 0x10, 0), PU_ERROR_INVALID_PARAMETER);
}

TEST(MachineApi, TheListOfProcessorsHasOneEntryPerProcessor) {
  const int count = GetActiveProcessorList(nullptr, 0);
  EXPECT_EQ(count, PiGetActiveProcessorCount());
  std::vector<int> cpus(static_cast<size_t>(count), -1);
  EXPECT_EQ(GetActiveProcessorList(cpus.data(), 1), count);
  if (count > 1) {
    EXPECT_EQ(cpus[1], -1);
  }
  EXPECT_EQ(GetActiveProcessorList(cpus.data(), count), count);
  EXPECT_TRUE(std::is_sorted(cpus.begin(), cpus.end()));
  EXPECT_EQ(GetActiveProcessorList(nullptr, 1), PU_ERROR_NULL_POINTER);
}

}  // namespace
