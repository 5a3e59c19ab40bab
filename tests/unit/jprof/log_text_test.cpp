// SPDX-License-Identifier: MIT
// The lines of JProf's logs, as documented in docs/man/log-jita2n.5 and log-jtnm.5.
#include "log_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>
#include <sstream>

#include <pi/jit_log.h>

namespace pi::jprof {
namespace {

using testing::EndsWith;
using testing::StartsWith;

constexpr uint64_t time = 0x000000413f6ed238;

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

TEST(LogText, JitA2nFilesBeginWithTheClassicTitle) {
  std::string text;
  append_jita2n_beginning(text, 4711);
  EXPECT_EQ(text,
            " JitA2N\n BINARY DATA IN PRINTABLE HEX\n Linux x86_64\n Process_Number_ID=4711\n");
}

TEST(LogText, TheHeadContainsClockProcessAndJvm) {
  std::string text;
  append_head(text, {"0.1.0", true, -5, 12, 4026531836, 0x10, time, true, "Open JDK\n17"});
  EXPECT_EQ(text,
            "# head version=1 agent=0.1.0 clock=CLOCK_MONOTONIC offset=-5 pid=12 pidns=4026531836 "
            "started=0000000000000010 begun=000000413f6ed238 attached=late jvm=Open_JDK_17\n");
  text.clear();
  append_head(text, {"0.1.0", false, 0, 1, 0, 0, 0, false, "x"});
  EXPECT_THAT(text, testing::HasSubstr(" clock=namespace "));
  EXPECT_THAT(text, testing::HasSubstr(" attached=start "));
}

TEST(LogText, ACodeRecordMayHaveNoBytes) {
  std::string text;
  append_code(text, time, 0x7f88e12c4a40, 88, 0, "java/lang/String.hashCode()I", {});
  EXPECT_EQ(text, "00000041 3f6ed238 7f88e12c4a40 58 0 java/lang/String.hashCode()I\n");
}

TEST(LogText, CodeIsWrittenInLinesOf32Bytes) {
  std::vector<uint8_t> bytes(70);
  std::iota(bytes.begin(), bytes.end(), uint8_t{0xe0});
  std::string text;
  append_code(text, 1, 0x1000, 70, jit_log::flag_dynamic, "I2C/C2I adapters", bytes);
  const auto lines = lines_of(text);
  ASSERT_EQ(lines.size(), 4u);
  EXPECT_EQ(lines[0], "00000000 00000001 1000 46 3 I2C/C2I_adapters");
  EXPECT_EQ(lines[1], "e0e1e2e3e4e5e6e7e8e9eaebecedeeeff0f1f2f3f4f5f6f7f8f9fafbfcfdfeff");
  EXPECT_EQ(lines[2].size(), 64u);
  EXPECT_EQ(lines[3], "202122232425");
  text.clear();
  append_code(text, 1, 0x1000, 64, 0, "x", std::span(bytes).first(64));
  EXPECT_EQ(lines_of(text).size(), 3u);
}

TEST(LogText, UnloadLostIntervalAndEndHaveTheirLines) {
  std::string text;
  append_unload(text, time, 0x1000);
  append_lost(text, 12, 1, time);
  append_interval(text, 10);
  append_end(text, time, "exit");
  EXPECT_EQ(text,
            "# unload 00000041 3f6ed238 1000\n"
            "# lost 12 00000000 00000001 00000041 3f6ed238\n"
            " SeqNo 10\n"
            "# end 00000041 3f6ed238 exit\n");
}

TEST(LogText, AMethodRecordHasItsFileAndLines) {
  std::string text;
  append_method(text, 26, "My File.java", "a/B.c()V", {{0, 10}, {5, 9}, {255, 12}});
  append_method(text, 27, "", "a/B.d()V", {});
  EXPECT_EQ(text,
            "# method 1a My_File.java a/B.c()V\n"
            "# lines 1a 0:10 5:9 ff:12\n"
            "# method 1b - a/B.d()V\n");
}

TEST(LogText, FramesReferToMethodsByNumber) {
  const InlineFrame frames[] = {{0, 0, 4}, {1, 1, -1}};
  const InlineRange ranges[] = {{0x10, 1}, {0x2a, 2}};
  const uint32_t numbers[] = {0x30, 0x31};
  std::string text;
  append_inlining(text, frames, ranges, numbers);
  EXPECT_EQ(text, "# frames 0:30:4 1:31:-\n# ranges 10:1 2a:2\n");
  text.clear();
  append_inlining(text, {}, {}, numbers);
  EXPECT_EQ(text, "");
}

TEST(LogText, AdditionLinesStayBelowTheMaximumLength) {
  constexpr uint32_t count = 5000;
  std::vector<InlineFrame> frames(count, {0xffffffff, 0, 0x7fffffff});
  std::vector<InlineRange> ranges(count, {0xffffffff, 0xffffffff});
  const std::vector<uint32_t> numbers{0xffffffff};
  LineTable table(count, {0xffffffff, 0xffffffff});
  std::string text;
  append_inlining(text, frames, ranges, numbers);
  append_method(text, 0xffffffff, "F.java", "a.b()V", table);
  size_t items = 0;
  for (const auto& line : lines_of(text)) {
    EXPECT_LT(line.size(), jit_log::addition_line_max);
    EXPECT_THAT(line, StartsWith("# "));
    if (line.starts_with("# frames"))
      items += static_cast<size_t>(std::count(line.begin(), line.end(), ' ')) - 1;
  }
  EXPECT_EQ(items, count);
}

TEST(LogText, NamesHaveNoBlanksAndThreadsNoQuotes) {
  EXPECT_EQ(log_name("a b\tc\nd\x7f\"e"), "a_b_c_d_\"e");
  EXPECT_EQ(log_name("\xc0\x80"), "_");
  EXPECT_EQ(log_name("\xed\xa1\x82\xed\xbe\xb7"), "\xf0\xa0\xae\xb7");
  EXPECT_EQ(thread_log_name("worker \"one\""), "worker__one_");
  EXPECT_EQ(thread_log_name(""), "_");
}

TEST(LogText, ALongNameIsCutAtACharacterBoundary) {
  EXPECT_EQ(log_name(std::string(jit_log::name_max, 'x')).size(), jit_log::name_max);
  const std::string cut = log_name(std::string(jit_log::name_max + 1, 'x'));
  EXPECT_EQ(cut.size(), jit_log::name_max);
  EXPECT_THAT(cut, EndsWith("xxx..."));
  std::string wide = "x";
  while (wide.size() <= jit_log::name_max) wide += "\xc3\xb6";
  EXPECT_THAT(log_name(wide), EndsWith("\xc3\xb6..."));
}

TEST(LogText, MountsOfVirtualThreadsHaveTheirLines) {
  std::string text;
  append_mount(text, 0x123, 0x1a, "#21,my thread");
  append_unmount(text, 0x124, 0x1a);
  EXPECT_EQ(text, "# mount 0000000000000123 1a #21,my_thread\n# unmount 0000000000000124 1a\n");
}

TEST(LogText, ThreadStartAndEndHaveTheirLines) {
  std::string text;
  append_thread(text, time, 0x1268, "main", true);
  append_thread(text, time + 1, 0x1268, "a b", false);
  EXPECT_EQ(text,
            "TNM: 000000413f6ed238 1268 main START\n"
            "TNM: 000000413f6ed239 1268 a_b END\n");
}

}  // namespace
}  // namespace pi::jprof
