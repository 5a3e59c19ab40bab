// SPDX-License-Identifier: MIT
// Model-specific registers, with files in place of the kernel's devices; tests/lab reads real ones.
#include "counters/msr.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstring>

#include "perfutil.h"
#include "temp_dir.h"

namespace pi::perfutil {
namespace {

using ::testing::HasSubstr;

class Msr : public ::testing::Test {
 protected:
  Msr() {
    places_.devices = root_ / "cpu";
    places_.module = root_ / "module";
    places_.lockdown = root_ / "lockdown";
  }
  // A device whose register number holds the value.
  void make_device(uint32_t cpu, uint32_t number, uint64_t value) {
    std::string bytes(number + sizeof value, '\0');
    std::memcpy(bytes.data() + number, &value, sizeof value);
    root_.write("cpu/" + std::to_string(cpu) + "/msr", bytes);
  }
  void expect_refused(const Result<uint64_t>& result, int code, const char* text) {
    ASSERT_FALSE(result);
    EXPECT_EQ(result.error().code, code);
    EXPECT_THAT(result.error().message, HasSubstr(text));
  }

  test::TempDir root_;
  MsrPlaces places_;
};

TEST_F(Msr, ReadsTheRegisterOfTheGivenCpu) {
  make_device(0, 0x1b, 0xfee00900);
  make_device(3, 0x1b, 0xfee00800);
  EXPECT_EQ(*read_msr(0, 0x1b, places_), 0xfee00900u);
  EXPECT_EQ(*read_msr(3, 0x1b, places_), 0xfee00800u);
}

TEST_F(Msr, AWrittenValueIsReadBack) {
  make_device(0, 0x1b0, 6);
  ASSERT_TRUE(write_msr(0, 0x1b0, 0xfedcba9876543210, places_));
  EXPECT_EQ(*read_msr(0, 0x1b0, places_), 0xfedcba9876543210u);
}

TEST_F(Msr, AMissingRegisterIsAnError) {
  make_device(0, 0x10, 1);
  expect_refused(read_msr(0, 0x1b0, places_), PU_FAILURE, "register 0x1b0 on CPU 0");
}

TEST_F(Msr, AMissingModuleAMissingCpuAndAContainerHaveTheirOwnErrors) {
  expect_refused(read_msr(0, 0x10, places_), PU_ERROR_NOT_SUPPORTED, "CONFIG_X86_MSR");
  root_.write("module/parameters/allow_writes", "default\n");
  expect_refused(read_msr(0, 0x10, places_), PU_ERROR_NOT_SUPPORTED, "container");
  make_device(0, 0x10, 1);
  expect_refused(read_msr(7, 0x10, places_), PU_ERROR_INVALID_PARAMETER, "no CPU 7");
}

TEST_F(Msr, ADeviceThatMayNotBeOpenedIsAccessDenied) {
  make_device(0, 0x10, 1);
  ::chmod((root_ / "cpu/0/msr").c_str(), 0);
  // The test's directories must not be the reason for the refusal.
  for (const char* folder : {".", "cpu", "cpu/0"}) ::chmod((root_ / folder).c_str(), 0755);
  // Root may open everything.
  const uid_t before = ::geteuid();
  constexpr uid_t nobody = 65534;
  ASSERT_EQ(::seteuid(before == 0 ? nobody : before), 0);
  expect_refused(read_msr(0, 0x10, places_), PU_ERROR_ACCESS_DENIED, "only root");
  ASSERT_EQ(::seteuid(before), 0);
}

}  // namespace
}  // namespace pi::perfutil
