// SPDX-License-Identifier: MIT
// The module as a source: its requests, errors from refused requests, invalid numbers from it.
#include "driver/driver_collector.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "fake_device.h"
#include "file/info_section.h"

namespace pi::perfutil {
namespace {

using test::FakeDevice;
using test::FakeModule;
using ::testing::HasSubstr;
using ::testing::Not;

struct DriverTest : ::testing::Test {
  std::shared_ptr<FakeModule> module = std::make_shared<FakeModule>();
  TraceConfig config;

  Result<std::unique_ptr<Collector>> create() {
    return DriverCollector::create(config, std::make_unique<FakeDevice>(module));
  }
  Error refusal() {
    auto collector = create();
    EXPECT_FALSE(collector);
    return collector ? Error{} : collector.error();
  }
};

TEST_F(DriverTest, InitAllocatesBuffersAndStatusHasTheModulesRoundedSizes) {
  config.trace_bytes = 100'000;
  config.mte_bytes = 70'001;
  config.anonymous = false;
  auto collector = create();
  ASSERT_TRUE(collector);
  EXPECT_EQ(module->allocated.trace_bytes, 100'000u);
  EXPECT_EQ(module->allocated.mte_bytes, 70'001u);
  EXPECT_EQ(module->allocated.flags, 0u);
  const auto status = (*collector)->status();
  ASSERT_TRUE(status);
  EXPECT_EQ(status->trace_bytes, 102'400u);
  EXPECT_EQ(status->mte_bytes, 73'728u);
}

TEST_F(DriverTest, AMissingDeviceIsReportedAsDriverNotLoaded) {
  module->open_result = -ENOENT;
  EXPECT_EQ(refusal().code, PU_ERROR_DRIVER_NOT_LOADED);
}

TEST_F(DriverTest, AForbiddenDeviceIsAccessDeniedAndNamesTheGroup) {
  module->open_result = -EACCES;
  const Error error = refusal();
  EXPECT_EQ(error.code, PU_ERROR_ACCESS_DENIED);
  EXPECT_THAT(error.message, HasSubstr("usermod -aG pitrace"));
}

TEST_F(DriverTest, KernelLockdownIsAccessDeniedAndTheGroupIsNotSuggested) {
  module->open_result = -EPERM;
  const Error error = refusal();
  EXPECT_EQ(error.code, PU_ERROR_ACCESS_DENIED);
  EXPECT_THAT(error.message, HasSubstr("locked down"));
}

TEST_F(DriverTest, ABusyFacilityNamesItsOwner) {
  module->refuse[PITRACE_IOC_ALLOC] = -EBUSY;
  module->info.owner_pid = ::getpid();
  const Error error = refusal();
  EXPECT_EQ(error.code, PU_ERROR_FACILITY_BUSY);
  EXPECT_THAT(error.message, HasSubstr(std::to_string(::getpid())));
  EXPECT_THAT(error.message, HasSubstr("perfutil"));  // the name of this program begins with it
}

TEST_F(DriverTest, AnotherAbiIsRefusedWithBothVersions) {
  module->info.abi_major = 7;
  module->info.abi_minor = 3;
  const Error error = refusal();
  EXPECT_EQ(error.code, PU_ERROR_NOT_SUPPORTED);
  EXPECT_THAT(error.message, HasSubstr("7.3"));
  EXPECT_THAT(error.message, HasSubstr(std::to_string(PITRACE_ABI_MAJOR) + ".x"));
  EXPECT_THAT(module->requests, ::testing::Not(::testing::Contains(PITRACE_IOC_ALLOC)));
}

TEST_F(DriverTest, EnomemBecomesNotEnoughMemory) {
  module->refuse[PITRACE_IOC_ALLOC] = -ENOMEM;
  module->info.largest = 7 << 20;
  const Error error = refusal();
  EXPECT_EQ(error.code, PU_ERROR_NOT_ENOUGH_MEMORY);
  EXPECT_THAT(error.message, HasSubstr("At most 7 MB for each CPU are free"));
  EXPECT_TRUE(module->closed);
}

TEST_F(DriverTest, CallsBecomeTheirIoctls) {
  auto collector = create();
  ASSERT_TRUE(collector);
  module->requests.clear();
  EXPECT_TRUE((*collector)->enable(PITRACE_MAJOR_TPROF_SET));
  EXPECT_TRUE((*collector)->disable(25));
  EXPECT_TRUE((*collector)->set_rate(1000));
  EXPECT_TRUE((*collector)->on());
  EXPECT_TRUE((*collector)->off());
  EXPECT_EQ(module->requests,
            (std::vector<unsigned long>{PITRACE_IOC_ENABLE, PITRACE_IOC_DISABLE, PITRACE_IOC_RATE,
                                        PITRACE_IOC_ON, PITRACE_IOC_OFF}));
  EXPECT_EQ(module->arguments, (std::vector<uint32_t>{255, 25, 1000}));
}

TEST_F(DriverTest, StacksGoToTheModuleAndIntoTheStatus) {
  auto collector = create();
  ASSERT_TRUE(collector);
  EXPECT_TRUE((*collector)->set_stacks({PITRACE_STACKS_USER, 16}));
  EXPECT_EQ(module->stacks.which, uint32_t{PITRACE_STACKS_USER});
  EXPECT_EQ(module->stacks.depth, 16u);
  EXPECT_EQ((*collector)->status()->stacks.depth, 16u);
}

TEST_F(DriverTest, TheModuleIsAskedForAsManyFramesAsItCanFind) {
  auto collector = create();
  ASSERT_TRUE(collector);
  EXPECT_TRUE((*collector)->set_stacks({PITRACE_STACKS_USER, PITRACE_STACK_USER_DEPTH_MAX}));
  EXPECT_EQ(module->stacks.depth, uint32_t{PITRACE_STACK_DEPTH_MAX});
  EXPECT_EQ((*collector)->status()->stacks.depth, uint32_t{PITRACE_STACK_USER_DEPTH_MAX});
}

TEST_F(DriverTest, AnEventGoesToTheModuleAndARateMakesTicksByTimeAgain) {
  auto collector = create();
  ASSERT_TRUE(collector);
  TickEvent event;
  event.name = "cycles";
  event.type = 0;
  event.config1 = 7;
  event.period = 123456;
  event.flags = PITRACE_EVENT_RANDOM;
  EXPECT_TRUE((*collector)->set_event(event));
  EXPECT_EQ(module->event.type, 0u);
  EXPECT_EQ(module->event.config1, 7u);
  EXPECT_EQ(module->event.period, 123456u);
  EXPECT_EQ(module->event.flags, uint32_t{PITRACE_EVENT_RANDOM});
  EXPECT_EQ((*collector)->status()->tick.name, "cycles");
  EXPECT_EQ((*collector)->status()->tick_ns, 0u);
  EXPECT_TRUE((*collector)->set_rate(500));
  EXPECT_EQ(module->event.type, PITRACE_EVENT_TIME);
  EXPECT_TRUE((*collector)->status()->tick.is_time());
}

TEST_F(DriverTest, AnUnsupportedEventIsReportedWithTheSupportedOnes) {
  auto collector = create();
  ASSERT_TRUE(collector);
  TickEvent event;
  event.name = "cycles";
  for (const int error : {-ENOENT, -EOPNOTSUPP}) {
    module->refuse[PITRACE_IOC_EVENT] = error;
    const auto refused = (*collector)->set_event(event);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, PU_ERROR_EVENT_NOT_SUPPORTED);
    EXPECT_THAT(refused.error().message, HasSubstr("'cycles'"));
    EXPECT_THAT(refused.error().message, HasSubstr("virtual machine"));
    EXPECT_THAT(refused.error().message, HasSubstr("page-faults"));
  }
  module->refuse[PITRACE_IOC_EVENT] = -EBUSY;
  const auto busy = (*collector)->set_event(event);
  ASSERT_FALSE(busy);
  EXPECT_EQ(busy.error().code, PU_ERROR_FACILITY_BUSY);
  EXPECT_TRUE((*collector)->status()->tick.is_time());
}

TEST_F(DriverTest, BusyCountersAtTraceOnAreNotReportedAsAFullBuffer) {
  auto collector = create();
  ASSERT_TRUE(collector);
  TickEvent event;
  event.name = "cycles";
  event.type = 0;
  ASSERT_TRUE((*collector)->set_event(event));
  module->refuse[PITRACE_IOC_ON] = -ENOSPC;
  const auto refused = (*collector)->on();
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, PU_ERROR_FACILITY_BUSY);
  EXPECT_THAT(refused.error().message, HasSubstr("'cycles'"));
}

TEST_F(DriverTest, AnOlderModuleIsReportedAsSuch) {
  module->refuse[PITRACE_IOC_EVENT] = module->refuse[PITRACE_IOC_STACKS] = -ENOTTY;
  auto collector = create();
  ASSERT_TRUE(collector);
  const auto event = (*collector)->set_event({});
  const auto stacks = (*collector)->set_stacks({PITRACE_STACKS_USER, 16});
  ASSERT_FALSE(event || stacks);
  EXPECT_EQ(event.error().code, PU_ERROR_NOT_SUPPORTED);
  EXPECT_THAT(stacks.error().message, HasSubstr("older"));
  EXPECT_EQ((*collector)->status()->stacks.which, 0u);
}

TEST_F(DriverTest, TheDestructorReleasesOwnershipAndCloses) {
  {
    auto collector = create();
    ASSERT_TRUE(collector);
    EXPECT_FALSE(module->closed);
  }
  EXPECT_EQ(module->requests.back(), PITRACE_IOC_TERMINATE);
  EXPECT_TRUE(module->closed);
}

TEST_F(DriverTest, StatusTranslatesTheModulesState) {
  module->info.enabled[2] = 1 << 0;
  module->info.enabled[3] = 1 << 1;
  module->info.rate = 400;
  module->info.full = 1;
  pitrace_probe probe{};
  probe.attached = 1;
  probe.missed = 12;
  std::strcpy(probe.name, "perf_event_mmap");
  module->probes.push_back(probe);
  auto collector = create();
  ASSERT_TRUE(collector);
  const auto status = (*collector)->status();
  ASSERT_TRUE(status);
  EXPECT_TRUE(status->enabled.test(16));
  EXPECT_TRUE(status->enabled.test(25));
  EXPECT_EQ(status->enabled.count(), 2u);
  EXPECT_EQ(status->tick_ns, 2'500'000u);
  EXPECT_TRUE(status->full);
  EXPECT_EQ(status->missed.at("perf_event_mmap"), 12u);
}

TEST_F(DriverTest, MissedHitsOfHooksAreInTheInfo) {
  for (const char* name : {"perf_event_mmap", "task_rename"}) {
    pitrace_probe probe{};
    probe.attached = 1;
    std::strcpy(probe.name, name);
    module->probes.push_back(probe);
  }
  module->probes.back().missed = 12;
  auto collector = create();
  ASSERT_TRUE(collector);
  const auto status = (*collector)->status();
  ASSERT_TRUE(status);
  const InfoText info = describe_trace(**collector, *status, {}, {});
  EXPECT_THAT(info.text(), HasSubstr("\nmissed.task_rename=12\n"));
  EXPECT_THAT(info.text(), Not(HasSubstr("missed.perf_event_mmap")));
}

TEST_F(DriverTest, TheProcessThatTheUserNamedIsInTheInfo) {
  for (const int pid : {0, 4711}) {
    config.pid = pid;
    auto collector = create();
    ASSERT_TRUE(collector);
    const auto status = (*collector)->status();
    ASSERT_TRUE(status);
    const std::string text = describe_trace(**collector, *status, {}, {}).text();
    EXPECT_EQ(text.find("\npid=4711\n") != std::string::npos, pid != 0);
    EXPECT_EQ(text.find("\npid=") != std::string::npos, pid != 0);
  }
}

TEST_F(DriverTest, AMissingHookIsListedInCannotSee) {
  pitrace_probe probe{};
  std::memset(probe.name, 'x', sizeof probe.name);  // not zero-terminated
  module->probes.push_back(probe);
  auto collector = create();
  ASSERT_TRUE(collector);
  EXPECT_THAT((*collector)->cannot_see(),
              ::testing::Contains(HasSubstr("'" + std::string(sizeof probe.name, 'x') + "'")));
}

TEST_F(DriverTest, BuffersOfAllCpusAreMappedAlsoOfCpusOnlinedLater) {
  module->cpus = {0, 2};
  auto collector = create();
  ASSERT_TRUE(collector);
  EXPECT_EQ((*collector)->buffers().size(), 4u);
  module->cpus = {0, 1, 2};
  ASSERT_TRUE((*collector)->off());
  const auto views = (*collector)->buffers();
  ASSERT_EQ(views.size(), 6u);
  EXPECT_EQ(views[1].cpu, 1u);
}

TEST_F(DriverTest, CountsComeFromTheHeadAndCommittedBytesNeverReachBeyondTheBuffer) {
  config.trace_bytes = config.mte_bytes = 65536;
  auto& head = module->heads[{PITRACE_BUFFER_TRACE, 0}];
  head.committed = ~0ull;
  head.produced = 10;
  head.written = 7;
  head.lost[PITRACE_LOST_FULL] = 1;
  head.lost[PITRACE_LOST_STOPPED] = 2;
  auto collector = create();
  ASSERT_TRUE(collector);
  const auto views = (*collector)->buffers();
  EXPECT_EQ(views[0].records.size(), 65536u);
  EXPECT_EQ(views[0].counts.produced, 10u);
  EXPECT_EQ(views[0].counts.written, 7u);
  EXPECT_EQ(views[0].counts.lost[PITRACE_LOST_STOPPED], 2u);
}

}  // namespace
}  // namespace pi::perfutil
