// SPDX-License-Identifier: MIT
// Both logs of a JVM, written from JVMTI events.
#include "name_logs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <regex>

#include "temp_dir.h"

namespace pi::jprof {
namespace {

using test::slurp;
using testing::ElementsAre;
using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;

jmethodID method_id(uintptr_t number) {
  return reinterpret_cast<jmethodID>(number);
}

class NameLogsTest : public testing::Test {
 protected:
  void start() {
    options_.log_path = dir_.path();
    options_.pid_in_names = false;
    ASSERT_TRUE(logs_.open(options_));
    logs_.begin(false, "test");
  }
  std::string code_log() const { return log("log-jita2n"); }
  std::string thread_log() const { return log("log-jtnm"); }

  static Inlining inlining_of(std::initializer_list<uintptr_t> methods) {
    Inlining inlining;
    for (const auto number : methods) inlining.methods.push_back(method_id(number));
    inlining.frames = {{0, 0, 1}, {1, static_cast<uint32_t>(methods.size() - 1), 2}};
    inlining.ranges = {{4, 2}};
    return inlining;
  }
  void compile(const Inlining& inlining, const CodeEvent& event, const std::string& suffix = "") {
    NameLogs::Facts facts;
    for (const auto unknown : logs_.unknown_of(inlining))
      facts.push_back(
          {unknown,
           {"m" + std::to_string(reinterpret_cast<uintptr_t>(unknown)) + suffix, "F.java", {}}});
    logs_.compiled(event, inlining, facts);
  }

  // Without the interval numbers that a recorder running on this machine adds.
  std::string log(const char* name) const {
    return std::regex_replace(slurp(dir_ / name), std::regex(" SeqNo [0-9]+\n"), "");
  }

  test::TempDir dir_;
  Options options_ = parse_options({"tprof"}, nullptr).options;
  const uint8_t code_[8] = {1, 2, 3, 4, 5, 6, 7, 8};
  const CodeEvent event_{0x10, 0, code_, 8};
  NameLogs logs_;
};

TEST_F(NameLogsTest, AMethodIsDefinedOnceAndItsFactsAreRequestedAtEachCompile) {
  start();
  const auto inlining = inlining_of({1, 2});
  EXPECT_THAT(logs_.unknown_of(inlining), ElementsAre(method_id(1), method_id(2)));
  compile(inlining, event_);
  EXPECT_THAT(logs_.unknown_of(inlining), ElementsAre(method_id(1)));
  compile(inlining, event_);
  const std::string log = code_log();
  EXPECT_THAT(log, HasSubstr("# method 1 F.java m1\n# method 2 F.java m2\n00000000 00000010 "));
  EXPECT_THAT(log, HasSubstr(" 8 1 m1\n0102030405060708\n# frames 0:1:1 1:2:2\n# ranges 4:2\n"));
  EXPECT_EQ(log.find("# method 1 "), log.rfind("# method 1 "));
}

TEST_F(NameLogsTest, ARedefinedMethodHasANewNumber) {
  start();
  const auto inlining = inlining_of({1, 2});
  compile(inlining, event_);
  compile(inlining, event_, "changed");
  EXPECT_THAT(code_log(), HasSubstr("# method 3 F.java m1changed\n"));
  EXPECT_THAT(code_log(), EndsWith("# frames 0:3:1 1:2:2\n# ranges 4:2\n"));
}

TEST_F(NameLogsTest, RequestedCodeIsWrittenOnlyIfUnknown) {
  start();
  logs_.dynamic(event_, "stub one");
  const std::string before = code_log();
  logs_.dynamic({0x21, 0x20, code_, 8}, "stub one");
  EXPECT_EQ(code_log(), before);
  logs_.dynamic({0x31, 0x30, code_, 8}, "other");
  EXPECT_THAT(code_log(), HasSubstr(" 8 3 stub_one\n"));
  EXPECT_THAT(code_log(), HasSubstr(" 8 7 other\n"));
}

TEST_F(NameLogsTest, AfterAnUnloadTheSameCodeIsWrittenAgain) {
  start();
  const auto inlining = inlining_of({1});
  compile(inlining, event_);
  logs_.unloaded(0x20, code_);
  compile(inlining, {0x31, 0x30, code_, 8});
  EXPECT_THAT(code_log(), HasSubstr("# unload 00000000 00000020 "));
  EXPECT_THAT(code_log(), HasSubstr(" 8 5 m1\n"));
}

TEST_F(NameLogsTest, OnlyRequestedBytesAndLogsAreWritten) {
  options_.code_bytes = options_.thread_names = false;
  start();
  logs_.dynamic(event_, "stub");
  logs_.thread_started(1, 2, "t");
  EXPECT_THAT(code_log(), HasSubstr(" 8 2 stub\n"));
  EXPECT_THAT(code_log(), Not(HasSubstr("01020304")));
  EXPECT_FALSE(std::filesystem::exists(dir_ / "log-jtnm"));
}

TEST_F(NameLogsTest, EachThreadStartIsWrittenOnce) {
  start();
  logs_.thread_started(1, 0x10, "a");
  logs_.thread_started(1, 0x10, "a");
  logs_.begin_finding_threads();
  logs_.thread_found(2, 0x10, "a");
  logs_.thread_found(3, 0x11, "b");
  logs_.thread_ended(4, 0x12, "c");
  logs_.thread_found(5, 0x12, "c");
  logs_.end_finding_threads();
  logs_.thread_ended(6, 0x11, "b");
  logs_.end("exit");
  const std::string log = thread_log();
  EXPECT_THAT(log, HasSubstr("jvm=test\n"
                             "TNM: 0000000000000001 10 a START\n"
                             "TNM: 0000000000000003 11 b START\n"
                             "TNM: 0000000000000004 12 c END\n"
                             "TNM: 0000000000000006 11 b END\n"
                             "# end "));
}

TEST_F(NameLogsTest, MountsAreWrittenTogetherAndAtTheLatestWhenTheLogEnds) {
  start();
  const std::string before = thread_log();
  logs_.mounted(1, 0x10, "#21");
  logs_.unmounted(2, 0x10);
  logs_.unmounted(3, 0x11);  // its mount came before the log
  EXPECT_EQ(thread_log(), before);
  logs_.mounted(2 + NameLogs::mounts_delay_max, 0x10, "#22");
  EXPECT_EQ(thread_log().substr(before.size()),
            "# mount 0000000000000001 10 #21\n# unmount 0000000000000002 10\n"
            "# mount 0000000002faf082 10 #22\n");
  logs_.mounted(9, 0x11, "#23");
  EXPECT_THAT(logs_.summary(true), HasSubstr(": 3 events"));
  logs_.end("exit");
  EXPECT_THAT(thread_log(), HasSubstr("# mount 0000000000000009 11 #23\n# end "));
}

TEST_F(NameLogsTest, MountsStopAtTheirLimitWithoutANameThatStays) {
  start();
  const std::string name(1 << 14, 'x');
  logs_.mounted(1, 0x10, "#21");
  for (uint64_t i = 0; i <= NameLogs::mounts_bytes_max / name.size(); ++i)
    logs_.mounted(2, 0x11, name);
  logs_.mounted(3, 0x12, "#22" + name);
  logs_.unmounted(4, 0x10);
  logs_.unmounted(5, 0x12);
  logs_.end("exit");
  const std::string log = thread_log();
  EXPECT_LT(log.size(), NameLogs::mounts_bytes_max + 10000);
  EXPECT_THAT(log.substr(log.size() - 200), HasSubstr("# unmount 0000000000000004 10\n# end "));
}

TEST_F(NameLogsTest, NothingIsWrittenAfterEndAndANextSessionAppends) {
  start();
  const auto inlining = inlining_of({1, 2});
  compile(inlining, event_);
  logs_.end("detach");
  const std::string ended = code_log();
  EXPECT_THAT(ended, EndsWith(" detach\n"));
  compile(inlining, event_);
  logs_.dynamic(event_, "x");
  logs_.unloaded(1, code_);
  logs_.thread_started(1, 2, "t");
  EXPECT_EQ(code_log(), ended);
  start();
  compile(inlining, {0x41, 0x40, code_, 8});
  const std::string again = code_log().substr(ended.size());
  EXPECT_THAT(again, testing::StartsWith("# head "));
  EXPECT_THAT(again, HasSubstr("# method 1 F.java m1\n# method 2 F.java m2\n"));
}

TEST_F(NameLogsTest, IfOneLogCannotBeOpenedTheOtherIsRemoved) {
  options_.log_path = dir_.path();
  options_.pid_in_names = false;
  std::filesystem::create_directory(dir_ / "log-jtnm");
  EXPECT_FALSE(logs_.open(options_));
  EXPECT_FALSE(std::filesystem::exists(dir_ / "log-jita2n"));
  logs_.dynamic(event_, "x");
}

}  // namespace
}  // namespace pi::jprof
