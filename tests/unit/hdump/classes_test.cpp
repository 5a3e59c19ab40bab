// SPDX-License-Identifier: MIT
// Names of classes and fields: the first text of an id counts, and texts have a limit.
#include <graph/classes.h>
#include <gtest/gtest.h>

#include <string>

namespace hdump {
namespace {

TEST(Classes, TheFirstTextOfAnIdCounts) {
  Classes classes(8);
  classes.add_string(1, "first");
  for (int i = 0; i < 1000; ++i) classes.add_string(1, std::string(65535, 'x'));
  EXPECT_EQ(classes.string(1), "first");
  EXPECT_EQ(classes.texts_left_out(), 0u);
}

TEST(Classes, TextsHaveALimit) {
  Classes classes(8);
  const std::string text(1 << 20, 'x');
  for (Id id = 1; id <= 258; ++id) classes.add_string(id, text);
  EXPECT_EQ(classes.texts_left_out(), 2u);
  EXPECT_EQ(classes.string(256), text);
  EXPECT_EQ(classes.string(257), "?");
}

}  // namespace
}  // namespace hdump
