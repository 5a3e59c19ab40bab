// SPDX-License-Identifier: MIT
// Definitions of events by users, including hostile ones.
#include "events/event_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "perfutil.h"
#include "temp_dir.h"

namespace pi::perfutil {
namespace {

using ::testing::HasSubstr;

void refuse(std::string_view text, const char* expected) {
  const auto definitions = parse_event_definitions(text, "events");
  ASSERT_FALSE(definitions) << text;
  EXPECT_EQ(definitions.error().code, PU_ERROR_INVALID_PARAMETER);
  EXPECT_THAT(definitions.error().message, HasSubstr(expected));
}

TEST(EventFile, ALineHasNameEventAndMeaning) {
  const auto definitions = parse_event_definitions(
      "# ours\n\n  ALL_LOADS\tcpu/event=0xd0,umask=0x81/   all loads  that retired \nfaults.user "
      "perf::PERF_COUNT_SW_PAGE_FAULTS:u",
      "events");
  ASSERT_TRUE(definitions) << definitions.error().message;
  ASSERT_EQ(definitions->size(), 2u);
  EXPECT_EQ((*definitions)[0].name, "ALL_LOADS");
  EXPECT_EQ((*definitions)[0].event, "cpu/event=0xd0,umask=0x81/");
  EXPECT_EQ((*definitions)[0].meaning, "all loads  that retired");
  EXPECT_EQ((*definitions)[1].name, "faults.user");
  EXPECT_EQ((*definitions)[1].meaning, "");
}

TEST(EventFile, AnEmptyFileDefinesNothing) {
  for (const char* text : {"", "\n", "#\n", "  \t \n# x"}) {
    const auto definitions = parse_event_definitions(text, "events");
    ASSERT_TRUE(definitions);
    EXPECT_TRUE(definitions->empty());
  }
}

TEST(EventFile, ErrorsNameTheLine) {
  refuse("A faults\nB\n", "events:2: 'B' has no event");
  refuse("A faults\n#\nA cs\n", "events:3: 'A' is defined twice");
  refuse("1A faults\n", "'1A' is not a name");
  refuse("a/b faults\n", "is not a name");
  refuse(std::string(64, 'A') + " faults\n", "is not a name");
  refuse("instr faults\n", "'instr' is a name with a fixed meaning");
  refuse("page-faults cs\n", "name with a fixed meaning");
  refuse("rA8 cs\n", "name with a fixed meaning");
}

TEST(EventFile, HostileTextIsRefused) {
  refuse(std::string_view("A\0 faults\n", 10), "not printable ASCII");
  refuse("A faults \x1b[2J\n", "not printable ASCII");
  refuse("A faults \xc2\x9b\n", "not printable ASCII");
  refuse("A faults\r\n", "not printable ASCII");
  refuse("A faults " + std::string(2000, 'x'), "longer than");
  std::string many;
  for (size_t i = 0; i <= max_event_definitions; ++i) many += "E" + std::to_string(i) + " cs\n";
  refuse(many, "more than");
}

TEST(EventFile, OnlyARegularFileOfReasonableSizeIsRead) {
  const test::TempDir directory;
  const auto refuse_file = [&](const std::string& name, const char* expected) {
    const auto definitions = read_event_file(name);
    ASSERT_FALSE(definitions) << name;
    EXPECT_EQ(definitions.error().code, PU_ERROR_FILE);
    EXPECT_THAT(definitions.error().message, HasSubstr(expected));
  };
  refuse_file(directory / "missing", "No such file");
  refuse_file(directory.path(), "not a regular file");
  refuse_file("/dev/zero", "not a regular file");
  ASSERT_EQ(::mkfifo((directory / "pipe").c_str(), 0600), 0);
  refuse_file(directory / "pipe", "not a regular file");
  refuse_file(directory.write("large", std::string(max_event_file_bytes + 1, '#')), "larger");
  const auto good = read_event_file(directory.write("good", "A faults\n"));
  ASSERT_TRUE(good);
  EXPECT_EQ(good->size(), 1u);
}

}  // namespace
}  // namespace pi::perfutil
