// SPDX-License-Identifier: MIT
// Ids in other PID namespaces, from /proc.
#include "proc/namespace_ids.h"

#include <gtest/gtest.h>

#include "temp_dir.h"

namespace pi::perfutil {
namespace {

TEST(NamespaceIds, AreTheLastIdsOfTheStatusLines) {
  const auto ids =
      parse_namespace_ids("Name:\tx y\nTgid:\t20\nNStgid:\t20\t5\t1\nNSpid:\t22\t7\t3\n");
  ASSERT_TRUE(ids);
  EXPECT_EQ(ids->pid, 1u);
  EXPECT_EQ(ids->tid, 3u);
}

TEST(NamespaceIds, AreMissingInTheOwnNamespaceAndInDamagedText) {
  EXPECT_FALSE(parse_namespace_ids("NStgid:\t20\nNSpid:\t20\n"));
  EXPECT_FALSE(parse_namespace_ids("NStgid:\t20\t1\n"));
  EXPECT_FALSE(parse_namespace_ids("NStgid:\t20\tone\nNSpid:\t20\tone\n"));
  EXPECT_FALSE(parse_namespace_ids("NStgid:\t20\t99999999999\nNSpid:\t20\t1\n"));
  EXPECT_FALSE(parse_namespace_ids(""));
}

TEST(NamespaceIds, AreReadForEachThread) {
  const test::TempDir proc;
  proc.write("20/task/22/status", "NStgid:\t20\t1\nNSpid:\t22\t3\n");
  const NamespaceIdReader reader(proc.path());
  ASSERT_TRUE(reader.find(20, 22));
  EXPECT_EQ(reader.find(20, 22)->tid, 3u);
  EXPECT_FALSE(reader.find(20, 20));
  EXPECT_EQ(reader.namespace_of(20), 0u);
}

}  // namespace
}  // namespace pi::perfutil
