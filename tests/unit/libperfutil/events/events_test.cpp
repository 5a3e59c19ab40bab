// SPDX-License-Identifier: MIT
// Meaning of event names: classic names, the kernel's, those of counters in /sys, libpfm4's.
#include "events/event_refusal.h"
#include "events/events.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <linux/perf_event.h>

#include <cerrno>
#include <map>

#include "events/event_names.h"
#include "perfutil.h"
#include "temp_dir.h"

namespace pi::perfutil {
namespace {

using ::testing::HasSubstr;

class Events : public ::testing::Test {
 protected:
  Events() {
    devices_.write("cpu/type", "4\n");
    devices_.write("cpu/format/event", "config:0-7,32-35\n");
    devices_.write("cpu/format/umask", "config:8-15\n");
    devices_.write("cpu/format/any", "config:21\n");
    devices_.write("cpu/format/ldlat", "config1:0-15\n");
    devices_.write("cpu/events/stores-retired", "event=0xd0,umask=0x82\n");
    devices_.write("cpu/events/stores-retired.unit", "stores\n");
    devices_.write("uncore/type", "12\n");
    devices_.write("uncore/events/clockticks", "config=0xff\n");
  }
  Result<TickEvent> resolve(const std::string& name) {
    return resolve_event(name, devices_.path());
  }
  void expect(const std::string& name, uint32_t type, uint64_t config, uint64_t config1 = 0) {
    const auto event = resolve(name);
    ASSERT_TRUE(event) << name << ": " << event.error().message;
    EXPECT_EQ(event->type, type) << name;
    EXPECT_EQ(event->config, config) << name;
    EXPECT_EQ(event->config1, config1) << name;
    EXPECT_EQ(event->name, name);
  }
  void refuse(const std::string& name, int code = PU_ERROR_INVALID_METRIC) {
    const auto event = resolve(name);
    ASSERT_FALSE(event) << name;
    EXPECT_EQ(event.error().code, code) << name << ": " << event.error().message;
  }

  test::TempDir devices_;
};

TEST_F(Events, ClassicEventsAreKnownByNumberAndName) {
  expect("101", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES);
  expect("102", PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS);
  expect("INSTR", PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS);
  expect("mispred_branch", PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_MISSES);
  expect("150", PERF_TYPE_HARDWARE, PERF_COUNT_HW_REF_CPU_CYCLES);
  expect("125", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_ALIGNMENT_FAULTS);
  expect("137", PERF_TYPE_HW_CACHE,
         PERF_COUNT_HW_CACHE_L1D | PERF_COUNT_HW_CACHE_RESULT_MISS << 16);
  refuse("UOPS", PU_ERROR_EVENT_NOT_SUPPORTED);
  refuse("195", PU_ERROR_EVENT_NOT_SUPPORTED);
  refuse("196");
  refuse("100");
}

TEST_F(Events, ClassicNumbersAndNamesMatch) {
  const auto events = original_events();
  ASSERT_EQ(events.size(), 95u);
  const auto name = [&](int id) { return std::string(events[static_cast<size_t>(id - 101)].name); };
  EXPECT_EQ(name(101), "NONHALTED_CYCLES");
  EXPECT_EQ(name(137), "DC_MISS");
  EXPECT_EQ(name(150), "CPU_CLK_UNHALTED_REF");
  EXPECT_EQ(name(168), "L2_REQS_LD_MISS");
  EXPECT_EQ(name(184), "MEM_LOAD_RETIRED_L3_MISS");
  EXPECT_EQ(name(195), "FP_SIMD_PACKED_DOUBLE");
}

TEST_F(Events, EveryCounterpartOfAClassicEventIsAnEventOfTheKernel) {
  for (const auto& original : original_events()) {
    if (original.kernel == nullptr) continue;
    EXPECT_TRUE(resolve(original.kernel)) << original.name;
  }
}

TEST_F(Events, TheKernelsGenericNamesWorkInAnyCase) {
  expect("page-faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS);
  expect("faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS);
  expect("cs", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CONTEXT_SWITCHES);
  expect("l1-dcache-load-misses", PERF_TYPE_HW_CACHE,
         PERF_COUNT_HW_CACHE_L1D | PERF_COUNT_HW_CACHE_RESULT_MISS << 16);
  expect("LLC-stores", PERF_TYPE_HW_CACHE,
         PERF_COUNT_HW_CACHE_LL | PERF_COUNT_HW_CACHE_OP_WRITE << 8);
}

TEST_F(Events, ARawNumberIsAnEventOfTheProcessor) {
  expect("r1a8", PERF_TYPE_RAW, 0x1a8);
}

TEST_F(Events, ACounterInSysDefinesItsEventsAndTheirBits) {
  expect("stores-retired", 4, 0x82d0);
  expect("cpu/stores-retired/", 4, 0x82d0);
  expect("cpu/event=0xd0,umask=0x82,any/", 4, 0x2082d0);
  expect("cpu/event=0x1cd,ldlat=30/", 4, 0x1000000cd, 30);
  expect("uncore/clockticks/", 12, 0xff);
  expect("uncore/config=1,config1=2/", 12, 1, 2);
}

TEST_F(Events, FieldsAndEventsUnknownToACounterAreRefused) {
  refuse("cpu/no-such-event/");
  refuse("cpu/event=xyz/");
  refuse("cpu/umask=0x100/");  // eight bits
  refuse("cpu/event=1");
  refuse("/event=1/");
  refuse("../cpu/event=1/");
  refuse("cpu/../../type/");
  refuse("none/event=1/");
  refuse("stores-retired.unit");
}

TEST_F(Events, AMalformedFormatOfTheKernelsIsRefused) {
  for (const char* format : {"", "config", "config:", "config:x", "config:9-8", "config:60-64",
                             "config9:0-7", "config:0-"}) {
    devices_.write("cpu/format/odd", format);
    refuse("cpu/odd=1/");
  }
}

TEST_F(Events, LibpfmNamesAreTriedLast) {
  expect("PERF_COUNT_SW_CPU_MIGRATIONS", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_MIGRATIONS);
  const auto user = resolve("perf::PERF_COUNT_SW_PAGE_FAULTS:u");
  ASSERT_TRUE(user) << user.error().message;
  EXPECT_EQ(user->flags, uint32_t{PITRACE_EVENT_NO_KERNEL});
  const auto unknown = resolve("NO_SUCH_EVENT");
  ASSERT_FALSE(unknown);
  EXPECT_THAT(unknown.error().message, HasSubstr("NO_SUCH_EVENT"));
  EXPECT_THAT(unknown.error().message, HasSubstr("event list"));
  refuse("");
}

TEST_F(Events, TheDefaultPeriodIsOneForSoftwareEventsExceptClocks) {
  for (const char* name : {"page-faults", "faults", "context-switches", "cpu-migrations", "125",
                           "PERF_COUNT_SW_CPU_MIGRATIONS"})
    EXPECT_EQ(default_period(*resolve(name)), 1u) << name;
  for (const char* name : {"cpu-clock", "task-clock", "cpu-cycles", "INSTR", "r3c", "LLC-loads"})
    EXPECT_EQ(default_period(*resolve(name)), 10'000'000u) << name;
}

TEST_F(Events, TheListHasEachSourceOfNamesAndEveryNameButOnesWithoutCounterpartIsAnEvent) {
  std::map<std::string, int> groups;
  for (const auto& event : list_events(devices_.path())) {
    ++groups[event.group];
    if (event.group == "original" || event.group == "libpfm4") continue;
    EXPECT_TRUE(resolve(event.name)) << event.name;
  }
  EXPECT_EQ(groups["original"], 95);
  EXPECT_EQ(groups["device"], 2);
  EXPECT_GE(groups["software"], 8);
  EXPECT_GE(groups["hardware"], 20);
}

TEST_F(Events, ARefusalHasAReasonAndARemedy) {
  const Error none = refused_event(ENOENT, "cycles");
  EXPECT_EQ(none.code, PU_ERROR_EVENT_NOT_SUPPORTED);
  EXPECT_THAT(none.message, HasSubstr("page-faults"));
  EXPECT_EQ(refused_event(EACCES, "x").code, PU_ERROR_ACCESS_DENIED);
  EXPECT_THAT(refused_event(EACCES, "x").message, HasSubstr("perf_event_paranoid"));
  EXPECT_EQ(refused_event(EBUSY, "x").code, PU_ERROR_FACILITY_BUSY);
}

}  // namespace
}  // namespace pi::perfutil
