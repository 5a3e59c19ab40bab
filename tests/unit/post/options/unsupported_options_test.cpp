// SPDX-License-Identifier: MIT
// Unsupported options: found in every spelling, and all listed in the manual.
#include <gtest/gtest.h>

#include <fstream>
#include <set>
#include <sstream>

#include "options/unsupported_options.h"
#include "options/options.h"

namespace {

using post::find_unsupported;

TEST(UnsupportedOptions, AreFoundInEverySpelling) {
  for (const char* word : {"-mask", "--mask", "-mask=ff", "--mask=ff"}) {
    ASSERT_NE(find_unsupported(word), nullptr) << word;
    EXPECT_STREQ(find_unsupported(word)->name, "mask");
  }
  for (const char* word : {"mask", "-masks", "-", "--", "", "-clip", "-cpu", "-demangle", "-k"})
    EXPECT_EQ(find_unsupported(word), nullptr) << word;
}

TEST(UnsupportedOptions, AreRefusedAsWrongUse) {
  for (const auto& option : post::unsupported_options()) {
    const auto parsed = post::parse_options({std::string("-") + option.name});
    ASSERT_TRUE(std::holds_alternative<int>(parsed)) << option.name;
    EXPECT_EQ(std::get<int>(parsed), 255) << option.name;
  }
}

// Parses lines ".It Fl mask Ns = Ns Ar hex , Fl d Ar n" between ".Ss Unsupported options" and the
// next heading.
TEST(UnsupportedOptions, TheManualListsTheSameOptions) {
  std::ifstream manual(POST_MANUAL);
  ASSERT_TRUE(manual) << POST_MANUAL;
  std::set<std::string> listed;
  bool inside = false;
  for (std::string line; std::getline(manual, line);) {
    if (line.starts_with(".S")) inside = line == ".Ss Unsupported options";
    if (!inside || !line.starts_with(".It ")) continue;
    std::istringstream words(line);
    for (std::string word; words >> word;)
      if (word == "Fl" && words >> word) listed.insert(word);
  }
  std::set<std::string> unsupported;
  for (const auto& option : post::unsupported_options())
    EXPECT_TRUE(unsupported.insert(option.name).second) << option.name << " is listed twice";
  EXPECT_EQ(listed, unsupported);
}

}  // namespace
