// SPDX-License-Identifier: MIT
// Module or perf: which one is used, and the note about it.
#include "trace/source_select.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "fake_device.h"

namespace pi::perfutil {
namespace {

using test::FakeDevice;
using test::FakeModule;

struct SourceSelect : ::testing::Test {
  std::shared_ptr<FakeModule> module = std::make_shared<FakeModule>();
  TraceConfig config;
  SourceSelect() { config.pid = ::getpid(); }  // allows perf where only own processes may be traced

  Result<SelectedSource> select() {
    return select_source(config, std::make_unique<FakeDevice>(module));
  }
};

TEST_F(SourceSelect, TheModuleIsUsedWhenItsDeviceOpens) {
  const auto selected = select();
  ASSERT_TRUE(selected);
  EXPECT_EQ(selected->collector->source(), PI_SOURCE_DRIVER);
  EXPECT_EQ(selected->note, "");
}

TEST_F(SourceSelect, ABusyModuleIsNotReplacedByPerf) {
  module->refuse[PITRACE_IOC_ALLOC] = -EBUSY;
  const auto selected = select();
  ASSERT_FALSE(selected);
  EXPECT_EQ(selected.error().code, PU_ERROR_FACILITY_BUSY);
}

TEST_F(SourceSelect, WithoutAModulePerfIsUsedWithoutANote) {
  module->open_result = -ENOENT;
  const auto selected = select();
  if (!selected) GTEST_SKIP() << "needs perf_event_open: " << selected.error().message;
  EXPECT_EQ(selected->collector->source(), PI_SOURCE_PERF);
  EXPECT_EQ(selected->note, "");
}

TEST_F(SourceSelect, AModuleThatIsNotPermittedIsInTheNoteWhenPerfIsUsed) {
  module->open_result = -EACCES;
  const auto selected = select();
  if (!selected) GTEST_SKIP() << "needs perf_event_open: " << selected.error().message;
  EXPECT_EQ(selected->collector->source(), PI_SOURCE_PERF);
  EXPECT_THAT(selected->note, ::testing::HasSubstr("may not open /dev/pitrace"));
}

TEST_F(SourceSelect, SourceDriverNeverFallsBack) {
  config.source = PI_SOURCE_DRIVER;
  module->open_result = -ENOENT;
  const auto selected = select();
  ASSERT_FALSE(selected);
  EXPECT_EQ(selected.error().code, PU_ERROR_DRIVER_NOT_LOADED);
}

TEST_F(SourceSelect, SourcePerfNeverOpensTheDevice) {
  config.source = PI_SOURCE_PERF;
  const auto selected = select();
  if (!selected) GTEST_SKIP() << "needs perf_event_open: " << selected.error().message;
  EXPECT_EQ(selected->collector->source(), PI_SOURCE_PERF);
  EXPECT_TRUE(module->requests.empty());
}

}  // namespace
}  // namespace pi::perfutil
