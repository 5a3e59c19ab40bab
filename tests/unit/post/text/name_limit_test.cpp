// SPDX-License-Identifier: MIT
// Bounded names.
#include <gtest/gtest.h>

#include "text/name_limit.h"

namespace {

using post::limited_name;
using post::longest_name;

TEST(NameLimit, KeepsNamesUpToTheLimit) {
  EXPECT_EQ(limited_name("main"), "main");
  EXPECT_EQ(limited_name(std::string(longest_name, 'x')), std::string(longest_name, 'x'));
}

TEST(NameLimit, DistinguishesLongerNamesThatBeginAlike) {
  const std::string begin(longest_name, 'x');
  const std::string a = limited_name(begin + "a"), b = limited_name(begin + "b");
  EXPECT_EQ(a.size(), longest_name);
  EXPECT_NE(a, b);
  EXPECT_EQ(a, limited_name(begin + "a"));
  EXPECT_EQ(a.substr(0, longest_name - 17), begin.substr(0, longest_name - 17));
}

TEST(NameLimit, DividesNoCharacter) {
  std::string name;
  while (name.size() < 2 * longest_name) name += "\u4e2d";
  const std::string cut = limited_name(name);
  EXPECT_LE(cut.size(), longest_name);
  EXPECT_EQ(cut.find('~') % 3, 0u);
}

}  // namespace
