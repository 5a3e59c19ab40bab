// SPDX-License-Identifier: MIT
// Lists of CPUs on command lines.
#include "cpu_list.h"

#include <gtest/gtest.h>

namespace pi::cli {
namespace {

using Cpus = std::vector<int>;

TEST(CpuList, NumbersAndRangesAreSortedAndUnique) {
  EXPECT_EQ(parse_cpu_list("0"), Cpus{0});
  EXPECT_EQ(parse_cpu_list("8,0-3"), (Cpus{0, 1, 2, 3, 8}));
  EXPECT_EQ(parse_cpu_list("1,1-2,2"), (Cpus{1, 2}));
}

TEST(CpuList, MalformedListsAreRefused) {
  for (const char* text :
       {"", ",", "1,", ",1", "a", "1-", "-1", "3-1", "1-2-3", "0x1", "1 2", "65536", "99999999999"})
    EXPECT_FALSE(parse_cpu_list(text)) << text;
}

}  // namespace
}  // namespace pi::cli
