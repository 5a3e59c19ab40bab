// SPDX-License-Identifier: MIT
// JSON values: written text equals the values, and hostile text is refused.
#include "json.h"

#include <gtest/gtest.h>

#include <limits>
#include <map>

namespace pi {
namespace {

TEST(Json, ScalarsAreWrittenAsTheirTypes) {
  EXPECT_EQ(Json().dump(), "null");
  EXPECT_EQ(Json(true).dump(), "true");
  EXPECT_EQ(Json(-1).dump(), "-1");
  EXPECT_EQ(Json(std::numeric_limits<uint64_t>::max()).dump(), "18446744073709551615");
  EXPECT_EQ(Json(uint16_t{7}).dump(), "7");
  EXPECT_EQ(Json(0.1).dump(), "0.1");
  EXPECT_EQ(Json("two\nlines \"quoted\"").dump(), R"("two\nlines \"quoted\"")");
}

TEST(Json, BracesMakeAnObjectOfPairsAndAnArrayOfAnythingElse) {
  EXPECT_EQ((Json{{"a", 1}, {"b", {{"c", "d"}}}}).dump(), R"({"a":1,"b":{"c":"d"}})");
  EXPECT_EQ((Json{1, "b", nullptr == nullptr}).dump(), R"([1,"b",true])");
  EXPECT_EQ((Json{{1, 2}, {3, 4}}).dump(), "[[1,2],[3,4]]");
}

TEST(Json, MembersKeepTheirOrderAndTheLastValueCounts) {
  Json json = {{"z", 1}};
  json["a"] = 2;
  json["inner"]["deep"] = std::vector<std::string>{"x", "y"};
  json["z"] = 3;
  json.update({{"a", 4}, {"new", Json::array()}});
  EXPECT_EQ(json.dump(), R"({"z":3,"a":4,"inner":{"deep":["x","y"]},"new":[]})");
  EXPECT_EQ(Json({{"a", {{"b", 1}}}}).dump(1), "{\n \"a\": {\n  \"b\": 1\n }\n}");
}

TEST(Json, BytesThatAreNotUtf8AreReplaced) {
  EXPECT_EQ(Json("a\xff").dump(), "\"a\xef\xbf\xbd\"");
}

TEST(Json, ParsedTextGivesItsValues) {
  const auto json = Json::parse(
      R"({"n": 5, "negative": -5, "text": "t", "list": [1, 2.5], "yes": true, "none": null})");
  ASSERT_TRUE(json);
  EXPECT_EQ(json->find("n")->whole_number(), 5u);
  EXPECT_EQ(json->find("negative")->whole_number(), std::nullopt);
  EXPECT_EQ(json->find("negative")->number(), -5);
  EXPECT_EQ(*json->find("text")->text(), "t");
  EXPECT_EQ(json->find("list")->elements().back().number(), 2.5);
  EXPECT_TRUE(*json->find("yes")->boolean());
  EXPECT_TRUE(json->find("none")->empty());
  EXPECT_EQ(json->find("missing"), nullptr);
  EXPECT_EQ(json->size(), 6u);
}

TEST(Json, ElementsAreTakenOneByOneAndNotStored) {
  std::vector<std::string> taken;
  const auto rest = Json::parse_each(
      R"({"rows": [1, {"rows": [2]}, [3]], "other": [{"rows": []}, {"rows": ["x"]}], "more": [4]})",
      "rows", [&](const Json& element) { taken.push_back(element.dump()); });
  ASSERT_TRUE(rest);
  // An array of this name inside an element is a part of the element.
  EXPECT_EQ(taken, (std::vector<std::string>{"1", R"({"rows":[2]})", "[3]", "\"x\""}));
  EXPECT_EQ(rest->dump(), R"({"rows":[],"other":[{"rows":[]},{"rows":[]}],"more":[4]})");
  EXPECT_FALSE(Json::parse_each("{\"rows\": [1", "rows", [](const Json&) {}));
  // Elements are not limited in number, but all other values are.
  std::string many = "[1";
  for (int i = 0; i < 2'200'000; ++i) many += ",1";
  many += "]";
  size_t count = 0;
  EXPECT_TRUE(Json::parse_each("{\"rows\":" + many + "}", "rows", [&](const Json&) { ++count; }));
  EXPECT_EQ(count, 2'200'001u);
  EXPECT_FALSE(Json::parse_each("{\"others\":" + many + "}", "rows", [](const Json&) {}));
}

TEST(Json, InvalidAndTooDeepTextIsRefused) {
  EXPECT_FALSE(Json::parse("{\"a\": "));
  EXPECT_FALSE(Json::parse(""));
  EXPECT_TRUE(Json::parse(std::string(100, '[') + std::string(100, ']')));
  // Deeper text would exhaust the stack.
  EXPECT_FALSE(Json::parse(std::string(1'000'000, '[') + std::string(1'000'000, ']')));
  EXPECT_FALSE(Json::parse(std::string(1'000'000, '[')));
}

TEST(Json, TextWithTooManyValuesIsRefused) {
  EXPECT_TRUE(Json::parse(R"([[], {}, 1, {"a": null}])", 6));
  EXPECT_FALSE(Json::parse(R"([[], {}, 1, {"a": null}])", 5));
}

}  // namespace
}  // namespace pi
