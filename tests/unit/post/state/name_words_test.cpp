// SPDX-License-Identifier: MIT
// The names and ids that the words of a selection match, and the message on words that match
// nothing.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "state/name_words.h"

namespace {

using post::NameWords;
using testing::ElementsAre;
using testing::IsEmpty;

bool takes(NameWords& words, std::initializer_list<std::string_view> names,
           std::optional<uint32_t> id = {}) {
  return words.takes(words.fit(names, id));
}

TEST(NameWords, AWordIsANameAWildcardOrAnId) {
  NameWords words({{"cc1*", "sh", "4711", "0x10", "operator[]", "[a-c]at"}, {}});
  for (const char* name : {"cc1", "cc1plus", "sh", "operator[]", "bat"})
    EXPECT_TRUE(takes(words, {name}, 1)) << name;
  for (const char* name : {"cc", "bash", "shell", "operator", "rat", ""})
    EXPECT_FALSE(takes(words, {name}, 1)) << name;
  EXPECT_TRUE(takes(words, {"x"}, 4711));
  EXPECT_TRUE(takes(words, {"x"}, 16));
  EXPECT_FALSE(takes(words, {"x"}, 10));
  EXPECT_TRUE(takes(words, {"4711"}, 1)) << "a name of digits";
  EXPECT_TRUE(takes(words, {"/lib/x", "sh"})) << "any of the names";
  EXPECT_FALSE(takes(words, {"/bin/sh"}));
  NameWords paths({{"/bin/*"}, {}});
  EXPECT_TRUE(takes(paths, {"/bin/a/b"})) << "an asterisk stands for / too";
}

TEST(NameWords, WithoutWordsEverythingMatches) {
  NameWords none({{}, {}});
  EXPECT_FALSE(none.any());
  EXPECT_TRUE(takes(none, {"x"}, 1));
  NameWords all_but({{}, {"a*"}});
  EXPECT_TRUE(all_but.any());
  EXPECT_TRUE(takes(all_but, {"x"}));
  EXPECT_FALSE(takes(all_but, {"ab"}));
  NameWords both({{"a*"}, {"ab"}});
  EXPECT_TRUE(takes(both, {"ac"}));
  EXPECT_FALSE(takes(both, {"ab"})) << "what is left out is the stronger one";
  EXPECT_FALSE(takes(both, {"x"}));
}

TEST(NameWords, UnmatchedWordsAreReportedWithSimilarNames) {
  NameWords words({{"pyton3", "sh", "Xorg*", "zz"}, {"gnome-terminal-server", "99"}});
  EXPECT_THAT(words.unfitting("process", ""), IsEmpty()) << "nothing was tried";
  for (const char* name : {"python3", "sh", "xorg", "gnome-terminal-", "zzz"}) words.fit({name}, 7);
  EXPECT_THAT(
      words.unfitting("process", " in the trace"),
      ElementsAre("--process pyton3 matches nothing in the trace; similar: python3.",
                  "--process Xorg* matches nothing in the trace; similar: xorg.",
                  "--process zz matches nothing in the trace.",
                  "--no-process gnome-terminal-server matches nothing in the trace; similar: "
                  "gnome-terminal-.",
                  "--no-process 99 matches nothing in the trace."));
}

TEST(NameWords, LongNamesAreMatchedButNotRemembered) {
  NameWords words({{"frobnicate*", "frobnicated"}, {}});
  const std::string longest = "frobnicate" + std::string(246, 'x');
  EXPECT_TRUE(takes(words, {longest + "x"}));
  EXPECT_THAT(words.unfitting("symbol", ""), ElementsAre("--symbol frobnicated matches nothing."));
  NameWords similar({{"frobnicate"}, {}});
  EXPECT_FALSE(takes(similar, {longest}));
  EXPECT_FALSE(takes(similar, {longest + "x"}));
  EXPECT_THAT(similar.unfitting("symbol", ""),
              ElementsAre("--symbol frobnicate matches nothing; similar: " + longest + "."));
}

TEST(NameWords, ASymbolMatchesByItsShortFormsToo) {
  const auto takes = [](const char* word) {
    NameWords words(post::Choice<std::string>{{word}, {}});
    return words.takes(words.fit_symbol("_ZN2ns1fEi", "ns::f(int)"));
  };
  for (const char* word : {"_ZN2ns1fEi", "ns::f(int)", "ns::f", "f", "ns::*"})
    EXPECT_TRUE(takes(word)) << word;
  // A pattern is for whole names.
  for (const char* word : {"f*", "f(int)", "g"}) EXPECT_FALSE(takes(word)) << word;
}

}  // namespace
