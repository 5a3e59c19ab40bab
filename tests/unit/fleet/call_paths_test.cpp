// SPDX-License-Identifier: MIT
// Stacks of several traces become one tree of call paths, and damaged ones an error.
#include "call_paths.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace {

using fleet::CallPaths;
using testing::ElementsAre;
using testing::HasSubstr;

TEST(CallPaths, TracesNumberTheirStacksThemselves) {
  CallPaths paths;
  EXPECT_TRUE(paths.add_stack("one", 0, {}, "main"));
  EXPECT_TRUE(paths.add_stack("one", 1, 0, "work"));
  EXPECT_TRUE(paths.add_stack("one", 7, 1, "work"));
  EXPECT_TRUE(paths.add_stack("two", 1, {}, "main"));
  EXPECT_TRUE(paths.add_stack("two", 2, 1, "work"));
  EXPECT_TRUE(paths.add_ticks("one", 7, "shop", 1));
  EXPECT_TRUE(paths.add_ticks("one", 1, "shop", 10));
  EXPECT_TRUE(paths.add_ticks("two", 2, "shop", 100));
  EXPECT_TRUE(paths.add_ticks("two", 2, "bank", 1000));
  EXPECT_THAT(paths.rows(), ElementsAre(CallPaths::Row{"bank", "main;work", 1000},
                                        CallPaths::Row{"shop", "main;work", 110},
                                        CallPaths::Row{"shop", "main;work;work", 1}));
}

// A caller is on an earlier row, so that there are no circles.
TEST(CallPaths, StacksThatLackSomethingAreAnError) {
  CallPaths paths;
  EXPECT_TRUE(paths.add_stack("one", 1, {}, "main"));
  EXPECT_THAT(paths.add_stack("one", 3, 2, "f").error().message, HasSubstr("lacks its caller"));
  EXPECT_THAT(paths.add_stack("one", 4, 4, "f").error().message, HasSubstr("lacks its caller"));
  EXPECT_THAT(paths.add_stack("one", 1, {}, "f").error().message, HasSubstr("one number"));
  EXPECT_THAT(paths.add_ticks("one", 5, "shop", 1).error().message,
              HasSubstr("a stack is missing"));
  EXPECT_THAT(paths.add_ticks("one", 1, "shop", -1).error().message, HasSubstr("negative"));
  EXPECT_THAT(paths.add_ticks("a\nb", 1, "shop", 1).error().message, HasSubstr("'a\\x0ab'"));
}

}  // namespace
