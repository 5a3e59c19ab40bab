// SPDX-License-Identifier: MIT
// Times and conditions of pitrace-fleet.
#include "selection.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr int64_t now = 1'800'000'000;

int64_t time_of(const std::string& text) {
  const auto time = fleet::parse_time(text, now);
  return time ? *time : -1;
}

std::string condition_of(const std::vector<std::string>& words) {
  const auto made = fleet::condition(words);
  return made ? *made : "error";
}

TEST(FleetTimes, AreUtcOrAgo) {
  EXPECT_EQ(time_of("1970-01-02"), 86400);
  EXPECT_EQ(time_of("2026-11-24"), 1795478400);
  EXPECT_EQ(time_of("2026-11-24 10:30"), 1795478400 + 37800);
  EXPECT_EQ(time_of("2026-11-24T10:30:05"), 1795478400 + 37805);
  EXPECT_EQ(time_of("2026-11-24T10:30:05Z"), 1795478400 + 37805);
  EXPECT_EQ(time_of("3d"), now - 3 * 86400);
  EXPECT_EQ(time_of("12h"), now - 12 * 3600);
  EXPECT_EQ(time_of("30m"), now - 1800);
}

TEST(FleetTimes, OthersAreRefused) {
  for (const char* text :
       {"", "d", "0d", "-3d", "3s", "3", "9999999d", "2026", "2026-11", "2026-13-01", "2026-02-30",
        "2026-11-24 ", "2026-11-24 10", "2026-11-24 24:00", "2026-11-24 10:60",
        "2026-11-24 10:30:60", "2026-11-24 10:30:05x", "26-11-24", "+026-11-24"})
    EXPECT_EQ(time_of(text), -1) << text;
}

TEST(FleetConditions, KeysMustAllApplyAndValuesAreAlternatives) {
  EXPECT_EQ(condition_of({}), "TRUE");
  EXPECT_EQ(condition_of({"host=a"}), "(host = 'a')");
  EXPECT_EQ(condition_of({"host=a,host=b", "service=c", "host=d"}),
            "(host = 'a' OR host = 'b' OR host = 'd') AND (kind = 'lost' OR service = 'c')");
  EXPECT_EQ(condition_of({"kernel=6.12*_%"}), R"((kernel LIKE '6.12%\_\%' ESCAPE '\'))");
  EXPECT_EQ(condition_of({"module=/bin/a"}), "(kind = 'lost' OR module = '/bin/a')");
  EXPECT_EQ(condition_of({"module=a"}),
            R"((kind = 'lost' OR (module = 'a' OR module LIKE '%/a' ESCAPE '\')))");
  EXPECT_THAT(condition_of({"build=91ab"}), HasSubstr(R"(WHERE build_id LIKE '91ab%' ESCAPE '\')"));
}

TEST(FleetConditions, AValueCannotEndItsQuotationMarks) {
  EXPECT_EQ(condition_of({"host=a' OR '1'='1"}), "(host = 'a'' OR ''1''=''1')");
  EXPECT_EQ(condition_of({"host=*'"}), R"((host LIKE '%''' ESCAPE '\'))");
  EXPECT_EQ(condition_of({"host=\\'"}), R"((host = '\'''))");
  EXPECT_EQ(fleet::literal(std::string_view("a\0b\n'", 5)), "'ab'''");
}

TEST(FleetConditions, OthersAreRefused) {
  for (const char* text :
       {"host", "host=", "=a", "nosuch=a", "host=a,x", "HOST=a", "1=1 OR host=a"})
    EXPECT_EQ(condition_of({text}), "error") << text;
}

TEST(FleetConditions, TheKeysOfWords) {
  EXPECT_THAT(fleet::keys_of({"host=a,host=b", "service=c=d"}), ElementsAre("host", "service"));
  EXPECT_TRUE(fleet::keys_of({}).empty());
}

TEST(FleetConditions, PathsThatArePatternsOrLoseCharacters) {
  for (const char* path : {"fleet", "/srv/my fleet/it's", "date=2026-11-24/host=web%2F1", ""})
    EXPECT_TRUE(fleet::fits_pattern(path)) << path;
  for (const char* path : {"a*", "a?", "[a]", "{a}", "a\\", "new\nline", "tab\t"})
    EXPECT_FALSE(fleet::fits_pattern(path)) << path;
}

TEST(FleetConditions, WordsLeaveHosts) {
  for (const char* words : {"", "service=a", "host=web1", "host=db,host=web*", "host=*1",
                            "host=w*1", "host=*", "host=w*b*"})
    EXPECT_TRUE(fleet::leaves_host({words}, "web1")) << words;
  for (const char* words : {"host=web", "host=*2", "host=b*", "host=w*2*", "host=web1x,service=a"})
    EXPECT_FALSE(fleet::leaves_host({words}, "web1")) << words;
}

TEST(FleetConditions, APeriodReadsTheFoldersOfItsDaysAndOfTheDayBefore) {
  EXPECT_EQ(fleet::dates({}), "TRUE");
  EXPECT_EQ(fleet::condition(fleet::Period{}), "TRUE");
  const fleet::Period period{1795478400, 1795478400 + 3600};
  EXPECT_EQ(fleet::dates(period),
            "TRUE AND date >= DATE '2026-11-23' AND date <= DATE '2026-11-24'");
  const fleet::Dates dates = fleet::dates_of(period);
  EXPECT_TRUE(dates.have("2026-11-23") && dates.have("2026-11-24"));
  EXPECT_FALSE(dates.have("2026-11-22") || dates.have("2026-11-25"));
  EXPECT_TRUE(fleet::dates_of({}).have("2026-11-22"));
  EXPECT_EQ(fleet::condition(period),
            "TRUE AND time >= to_timestamp(1795478400) AND time < to_timestamp(1795482000)");
}

}  // namespace
