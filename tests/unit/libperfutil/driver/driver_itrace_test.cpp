// SPDX-License-Identifier: MIT
// ITrace by the module: its requests, and errors from refused requests.
#include "driver/driver_itrace.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fake_device.h"
#include "perfutil.h"

namespace pi::perfutil {
namespace {

using test::FakeDevice;
using test::FakeModule;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

// Stores the arguments of requests, and returns a given ITrace state.
class ITraceDevice final : public Device {
 public:
  explicit ITraceDevice(std::shared_ptr<FakeModule> module) : fake_(std::move(module)) {}
  int open() override { return fake_.open(); }
  int fd() const override { return -1; }
  UniqueMapping map(uint32_t, uint32_t, size_t) override { return {}; }
  int control(unsigned long request, void* argument) override {
    const int result = fake_.control(request, argument);
    if (result != 0) return result;
    if (request == PITRACE_IOC_IT_INSTALL) std::memcpy(&setup, argument, sizeof setup);
    if (request == PITRACE_IOC_IT_ENABLE) std::memcpy(&pids, argument, sizeof pids);
    if (request == PITRACE_IOC_IT_ON || request == PITRACE_IOC_IT_OFF)
      std::memcpy(&scope, argument, sizeof scope);
    if (request == PITRACE_IOC_IT_INFO) std::memcpy(argument, &info, sizeof info);
    return 0;
  }

  pitrace_itrace setup{};
  pitrace_itrace_pids pids{};
  uint32_t scope = 99;
  pitrace_itrace_info info{};

 private:
  FakeDevice fake_;
};

struct DriverITraceTest : ::testing::Test {
  std::shared_ptr<FakeModule> module = std::make_shared<FakeModule>();
  ITraceDevice device{module};
  DriverITrace itrace{device};

  Error refusal(unsigned long request, int error, const std::function<Status()>& call) {
    module->refuse = {{request, -error}};
    const auto done = call();
    EXPECT_FALSE(done);
    return done ? Error{} : done.error();
  }
};

TEST_F(DriverITraceTest, RequestsBecomeTheirIoctls) {
  pitrace_itrace setup{};
  setup.flags = PITRACE_ITRACE_RING | PITRACE_ITRACE_COUNT;
  setup.threads = 7;
  setup.reserve = 1 << 20;
  ASSERT_TRUE(itrace.install(setup));
  EXPECT_EQ(device.setup.flags, setup.flags);
  EXPECT_EQ(device.setup.threads, 7u);
  EXPECT_EQ(device.setup.reserve, 1u << 20);
  ASSERT_TRUE(itrace.enable(10, 20));
  EXPECT_EQ(device.pids.first, 10u);
  EXPECT_EQ(device.pids.last, 20u);
  ASSERT_TRUE(itrace.on());
  EXPECT_EQ(device.scope, uint32_t{PITRACE_ITRACE_ALL});
  ASSERT_TRUE(itrace.off());
  ASSERT_TRUE(itrace.disable());
  ASSERT_TRUE(itrace.remove());
  EXPECT_THAT(module->requests,
              ElementsAre(PITRACE_IOC_IT_INSTALL, PITRACE_IOC_IT_ENABLE, PITRACE_IOC_IT_ON,
                          PITRACE_IOC_IT_OFF, PITRACE_IOC_IT_DISABLE, PITRACE_IOC_IT_REMOVE));
}

TEST_F(DriverITraceTest, RefusalsBecomeCodesAndTexts) {
  struct Case {
    unsigned long request;
    int error;
    std::function<Status()> call;
    int code;
    const char* text;
  };
  const auto install = [&] { return itrace.install({}); };
  const auto enable = [&] { return itrace.enable(1, 1); };
  const auto on = [&] { return itrace.on(); };
  const std::vector<Case> cases{
      {PITRACE_IOC_IT_INSTALL, ENOTTY, install, PU_ERROR_NOT_SUPPORTED, "older than this library"},
      {PITRACE_IOC_IT_INSTALL, EOPNOTSUPP, install, PU_ERROR_NOT_SUPPORTED, "lacks a hook"},
      {PITRACE_IOC_IT_INSTALL, EPROTONOSUPPORT, install, PU_ERROR_NOT_SUPPORTED, "fred=off"},
      {PITRACE_IOC_IT_INSTALL, EBUSY, install, PU_ERROR_INCORRECT_STATE, "installed already"},
      {PITRACE_IOC_IT_INSTALL, EINVAL, install, PU_ERROR_INVALID_PARAMETER, "flags"},
      {PITRACE_IOC_IT_INSTALL, ENOMEM, install, PU_ERROR_NOT_ENOUGH_MEMORY, "fewer threads"},
      {PITRACE_IOC_IT_INSTALL, EPERM, install, PU_ERROR_ACCESS_DENIED, "owner"},
      {PITRACE_IOC_IT_REMOVE, EALREADY, [&] { return itrace.remove(); }, PU_ERROR_INCORRECT_STATE,
       "not installed"},
      {PITRACE_IOC_IT_ENABLE, EPERM, enable, PU_ERROR_ACCESS_DENIED, "enable only itself"},
      {PITRACE_IOC_IT_ENABLE, ENOSPC, enable, PU_ERROR_INSUFFICIENT_RESOURCES, "64 ranges"},
      {PITRACE_IOC_IT_ON, EALREADY, on, PU_ERROR_INCORRECT_STATE, "on already"},
      {PITRACE_IOC_IT_ON, ENOSPC, on, PU_ERROR_INSUFFICIENT_RESOURCES, "maximum number"},
      {PITRACE_IOC_IT_OFF, EALREADY, [&] { return itrace.off(); }, PU_ERROR_INCORRECT_STATE,
       "not on"},
      {PITRACE_IOC_IT_INFO, ENOTTY,
       [&] {
         const auto info = itrace.info();
         return info ? Status() : Status(info.error());
       },
       PU_ERROR_NOT_SUPPORTED, "older"}};
  for (const auto& c : cases) {
    const Error error = refusal(c.request, c.error, c.call);
    EXPECT_EQ(error.code, c.code) << error.message;
    EXPECT_THAT(error.message, HasSubstr(c.text));
  }
}

TEST_F(DriverITraceTest, WrongStatesAreReported) {
  const auto on = [&] { return itrace.on(); };
  EXPECT_THAT(refusal(PITRACE_IOC_IT_ON, EINVAL, on).message, HasSubstr("not installed"));
  device.info.installed = 1;
  EXPECT_THAT(refusal(PITRACE_IOC_IT_ON, EINVAL, on).message, HasSubstr("trace is not on"));
  module->info.state = PITRACE_TRACE_ON;
  EXPECT_THAT(refusal(PITRACE_IOC_IT_ON, EINVAL, on).message, HasSubstr("ITraceEnableCurrent"));
  EXPECT_EQ(refusal(PITRACE_IOC_IT_ENABLE, EINVAL, [&] { return itrace.enable(2, 1); }).code,
            PU_ERROR_INVALID_PARAMETER);
}

}  // namespace
}  // namespace pi::perfutil
