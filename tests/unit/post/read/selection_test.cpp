// SPDX-License-Identifier: MIT
// Ranges of seconds and CPUs: parsing, the values that they contain, and their description in the
// head of a report.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "read/selection.h"

namespace {

using post::Choice;
using post::NumberRange;
using post::parse_cpus;
using post::parse_seconds;
using post::Selection;
using post::TimeRange;
using testing::ElementsAre;

constexpr int64_t second = 1'000'000'000;

TEST(Selection, SecondsHaveDecimalsAndEitherEndMayBeMissing) {
  const auto both = parse_seconds("1.5-3");
  ASSERT_TRUE(both);
  EXPECT_EQ(both->first, 3 * second / 2);
  EXPECT_EQ(both->end, 3 * second);
  const auto last = parse_seconds("0.000000001-");
  ASSERT_TRUE(last);
  EXPECT_EQ(last->first, 1);
  EXPECT_EQ(last->end, TimeRange::open_end);
  const auto first = parse_seconds("-.25");
  ASSERT_TRUE(first);
  EXPECT_EQ(first->first, TimeRange::open_first);
  EXPECT_EQ(first->end, second / 4);
  EXPECT_TRUE(parse_seconds("9000000000-"));
}

TEST(Selection, InvalidRangesOfSecondsAreRefused) {
  for (const char* text :
       {"", "-", "1", "1.5", "3-1", "2-2", "a-b", "1-b", "1--2", "1.0000000001-2", "1.-.", "+1-2",
        "1 -2", "1e3-", "9000000001-", "99999999999999999999-"})
    EXPECT_FALSE(parse_seconds(text)) << text;
}

TEST(Selection, RangesOfSecondsAdjoin) {
  const TimeRange before = *parse_seconds("-3");
  const TimeRange after = *parse_seconds("3-");
  for (const int64_t time : {-second, int64_t{0}, 3 * second - 1, 3 * second, 4 * second})
    EXPECT_NE(before.contains(time), after.contains(time)) << time;
}

TEST(Selection, CpusAreNumbersAndRanges) {
  std::vector<NumberRange> cpus;
  ASSERT_TRUE(parse_cpus("0-3,7", cpus));
  ASSERT_TRUE(parse_cpus("12-", cpus));
  const Choice<NumberRange> choice{cpus, {}};
  for (const uint32_t cpu : {0u, 3u, 7u, 12u, 65535u}) EXPECT_TRUE(choice.takes(cpu)) << cpu;
  for (const uint32_t cpu : {4u, 6u, 8u, 11u}) EXPECT_FALSE(choice.takes(cpu)) << cpu;
  for (const char* text : {"", ",", "1,", "-3", "3-1", "a", "1-2-3", "65536", "1 ,2", "0x1"}) {
    std::vector<NumberRange> none;
    EXPECT_FALSE(parse_cpus(text, none)) << text;
  }
}

TEST(Selection, ExclusionsApplyToTheIncludedValues) {
  const NumberRange low{0, 3};
  const NumberRange two{2, 2};
  const Choice<NumberRange> both{{low}, {two}};
  EXPECT_TRUE(both.takes(1u));
  EXPECT_FALSE(both.takes(2u));
  EXPECT_FALSE(both.takes(4u));
  const Choice<NumberRange> all_but{{}, {two}};
  EXPECT_TRUE(all_but.takes(4u));
  EXPECT_FALSE(all_but.takes(2u));
  EXPECT_FALSE(Choice<NumberRange>{}.any());
}

TEST(Selection, TheHeadDescribesTheSelection) {
  Selection selection;
  EXPECT_TRUE(leaves_all_records(selection));
  EXPECT_FALSE(selection.by_name());
  selection.times = {{*parse_seconds("1.5-3"), *parse_seconds("-0.25")}, {*parse_seconds("10-")}};
  EXPECT_FALSE(leaves_all_records(selection));
  selection.cpus.only = {{0, 3}, {7, 7}};
  selection.names[static_cast<size_t>(post::NameKind::command)].without = {"make", "a\x1b"};
  EXPECT_TRUE(selection.by_name());
  EXPECT_THAT(
      selection_texts(selection),
      ElementsAre("seconds 1.5 to 3, up to 0.25, counted from the trace's first record (--time).",
                  "all but seconds from 10 on, counted from the trace's first record (--no-time).",
                  "CPUs 0-3, 7 (--cpus).",
                  "all but commands make, a\\x1b and the processes that descend from them "
                  "(--no-command)."));
}

}  // namespace
