// SPDX-License-Identifier: MIT
// Names of folders and services in the tables of --fleet.
#include "report/fleet_files.h"

#include <gtest/gtest.h>

#include "analysis/shown_names.h"

namespace {

constexpr uint64_t second = 1'000'000'000;

TEST(FleetFiles, AFolderIsOfADayInUtcAndAHost) {
  EXPECT_EQ(post::fleet_folder("records", 0, "web1"), "records/date=1970-01-01/host=web1");
  EXPECT_EQ(post::fleet_folder("stacks", 1795478400 * second, "web1.example_x-y"),
            "stacks/date=2026-11-24/host=web1.example_x-y");
  EXPECT_EQ(post::fleet_folder("stacks", 1795478400 * second - 1, "a"),
            "stacks/date=2026-11-23/host=a");
  EXPECT_EQ(post::fleet_folder("records", UINT64_MAX / 2, "a"), "records/date=2262-04-11/host=a");
}

TEST(FleetFiles, AHostIsOneFolderWhateverItsName) {
  EXPECT_EQ(post::fleet_folder("records", 0, ""), "records/date=1970-01-01/host=unknown");
  EXPECT_EQ(post::fleet_folder("records", 0, "Null"), "records/date=1970-01-01/host=%4Eull");
  EXPECT_EQ(post::fleet_folder("records", 0, "nulls"), "records/date=1970-01-01/host=nulls");
  EXPECT_EQ(post::fleet_folder("records", 0, "__HIVE_DEFAULT_PARTITION__"),
            "records/date=1970-01-01/host=%5F_HIVE_DEFAULT_PARTITION__");
  EXPECT_EQ(post::fleet_folder("records", 0, "../a"), "records/date=1970-01-01/host=..%2Fa");
  EXPECT_EQ(post::fleet_folder("records", 0, "a=b%\n\xc3\xa9"),
            "records/date=1970-01-01/host=a%3Db%25%0A%C3%A9");
}

TEST(FleetFiles, TheServiceIsTheInnermostOneOrElseTheInnermostGroup) {
  EXPECT_EQ(post::service_of("/system.slice/ssh.service"), "ssh");
  EXPECT_EQ(post::service_of("/user.slice/user-1000.slice/user@1000.service/app.slice/x.service"),
            "x");
  EXPECT_EQ(post::service_of("/system.slice/shop.service/worker"), "shop");
  EXPECT_EQ(post::service_of("/user.slice/session-3.scope"), "session-3.scope");
  EXPECT_EQ(post::service_of("/docker/4711"), "4711");
  EXPECT_EQ(post::service_of("/"), "");
  EXPECT_EQ(post::service_of(""), "");
  EXPECT_EQ(post::service_of("/.service"), ".service");
}

}  // namespace
