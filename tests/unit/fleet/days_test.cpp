// SPDX-License-Identifier: MIT
// Which questions the sums by day suffice for.
#include "days.h"

#include <gtest/gtest.h>

namespace {

constexpr int64_t midnight = 1795478400;  // 2026-11-24

TEST(FleetDays, SufficeForWholeDays) {
  fleet::Question question;
  EXPECT_TRUE(fleet::days_suffice(question));
  question.period = {midnight, midnight + 86400};
  question.at = midnight;
  EXPECT_TRUE(fleet::days_suffice(question));
  for (int64_t* time : {&question.period.since, &question.period.until, &question.at}) {
    *time += 3600;
    EXPECT_FALSE(fleet::days_suffice(question));
    *time -= 3600;
  }
}

TEST(FleetDays, SufficeForWhatTheyHave) {
  for (const char* by : {"function", "module", "process", "service", "host", "kernel", "build",
                         "thread", "cgroup"}) {
    fleet::Question question;
    question.by = by;
    EXPECT_EQ(fleet::days_suffice(question), question.by != "thread" && question.by != "cgroup")
        << by;
  }
  fleet::Question question;
  question.where = {"host=a,service=b", "module=c"};
  question.b = {"process=a", "function=b,kernel=c"};
  EXPECT_TRUE(fleet::days_suffice(question));
  for (const char* word : {"thread=a", "host=a,cgroup=b", "build=91ab"}) {
    fleet::Question other = question;
    other.a = {word};
    EXPECT_FALSE(fleet::days_suffice(other)) << word;
  }
  question.paths = true;
  EXPECT_FALSE(fleet::days_suffice(question));
}

}  // namespace
