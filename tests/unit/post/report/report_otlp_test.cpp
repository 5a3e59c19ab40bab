// SPDX-License-Identifier: MIT
// What a collector reads from the file of --export otlp, by the numbers of the fields of the
// published profiles.proto.
#include <gmock/gmock.h>

#include <map>
#include <protozero/pbf_reader.hpp>
#include <set>
#include <string>
#include <vector>

#include "gunzip.h"
#include "post_run.h"
#include "text_trace.h"

namespace {

using namespace test_support;
using protozero::pbf_reader;
using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Pair;
using testing::UnorderedElementsAre;

constexpr char two_services[] = R"(
info rate=100
info host=a host
info kernel=6.1.0
section mte 0
1 name 0x20 app
1 cgroup 0x20 /system.slice/shop.service
1 module 0x20 0x1000 0x1000 0 /bin/app
1 name 0x21 app
section trace 0
10000000 tick user 0x20 0x20 0x1124 stack user 0x1108
20000000 tick user 0x20 0x20 0x1124 stack user 0x1108
30000000 tick user 0x21 0x21 0x9000
)";

// The messages of a repeated field, and the bytes or numbers of others.
struct Message {
  std::multimap<uint32_t, std::string> bytes;
  std::multimap<uint32_t, int64_t> numbers;
  explicit Message(const std::string& text) {
    pbf_reader reader(text);
    while (reader.next()) {
      if (reader.wire_type() == protozero::pbf_wire_type::length_delimited)
        bytes.emplace(reader.tag(), reader.get_bytes());
      else if (reader.wire_type() == protozero::pbf_wire_type::varint)
        numbers.emplace(reader.tag(), reader.get_int64());
      else
        numbers.emplace(reader.tag(), static_cast<int64_t>(reader.get_fixed64()));
    }
  }
  std::vector<Message> all(uint32_t tag) const {
    std::vector<Message> messages;
    for (auto [at, end] = bytes.equal_range(tag); at != end; ++at)
      messages.emplace_back(at->second);
    return messages;
  }
  Message one(uint32_t tag) const { return all(tag).at(0); }
  std::vector<std::string> texts(uint32_t tag) const {
    std::vector<std::string> found;
    for (auto [at, end] = bytes.equal_range(tag); at != end; ++at) found.push_back(at->second);
    return found;
  }
  std::vector<int64_t> packed(uint32_t tag) const {
    std::vector<int64_t> found;
    for (const std::string& text : texts(tag)) {
      pbf_reader reader(text);
      const char* at = text.data();
      while (at != text.data() + text.size())
        found.push_back(
            static_cast<int64_t>(protozero::decode_varint(&at, text.data() + text.size())));
    }
    return found;
  }
  size_t number(uint32_t tag) const {
    const auto found = numbers.find(tag);
    return found == numbers.end() ? 0 : static_cast<size_t>(found->second);
  }
};

struct Request {
  Message request;
  Message tables = request.one(2);
  std::vector<std::string> strings = tables.texts(5);

  std::vector<std::string> stack(size_t number) const {
    std::vector<std::string> names;
    for (const int64_t location : tables.all(7).at(number).packed(1)) {
      const Message line = tables.all(2).at(static_cast<size_t>(location)).one(3);
      names.push_back(strings.at(tables.all(3).at(line.number(1)).number(1)));
    }
    return names;
  }
  std::map<std::string, std::string> attributes(const Message& of, uint32_t tag) const {
    std::map<std::string, std::string> found;
    for (const int64_t number : of.packed(tag)) {
      const Message attribute = tables.all(6).at(static_cast<size_t>(number));
      found[strings.at(attribute.number(1))] = attribute.one(2).texts(1).at(0);
    }
    return found;
  }
};

Request exported() {
  FakeSymbolizer symbolizer;
  symbolizer.add_symbol("/bin/app", 0x100, 0x20, "_start");
  symbolizer.add_symbol("/bin/app", 0x120, 0x20, "work");
  const auto trace = trace_from_text(two_services);
  EXPECT_TRUE(trace) << trace.error().message;
  post::Options options;
  options.exports = {"otlp"};
  return {Message(gunzip(run_post(*trace, symbolizer, options).otlp))};
}

std::map<std::string, std::string> resource_of(const Message& profiles) {
  std::map<std::string, std::string> facts;
  for (const Message& pair : profiles.one(1).all(1))
    facts[pair.texts(1).at(0)] = pair.one(2).texts(1).at(0);
  return facts;
}

TEST(ReportOtlp, EachServiceIsAResourceWithItsStacksAndTicks) {
  const Request file = exported();
  std::map<std::string, std::map<std::vector<std::string>, int64_t>> ticks;
  for (const Message& profiles : file.request.all(1)) {
    const auto facts = resource_of(profiles);
    EXPECT_THAT(
        facts, AllOf(Contains(Pair("host.name", "a host")), Contains(Pair("os.version", "6.1.0"))));
    const std::string version = profiles.one(2).one(1).texts(2).at(0);
    EXPECT_EQ(version.find_first_not_of("0123456789."), version.npos) << version;
    const Message profile = profiles.one(2).one(2);
    const Message type = profile.one(1);
    EXPECT_EQ(file.strings.at(type.number(1)) + " " + file.strings.at(type.number(2)),
              "samples count");
    EXPECT_EQ(profile.number(6), 10'000'000u);  // the period
    EXPECT_EQ(profile.texts(7).at(0).size(), 16u);
    for (const Message& sample : profile.all(2)) {
      EXPECT_THAT(file.attributes(sample, 2), Contains(Pair("process.executable.name", "app")));
      ticks[facts.at("service.name")][file.stack(sample.number(1))] += sample.packed(4).at(0);
    }
  }
  EXPECT_THAT(ticks, UnorderedElementsAre(
                         Pair("shop", ElementsAre(Pair(ElementsAre("work", "_start"), 2))),
                         Pair("unknown_service", ElementsAre(Pair(ElementsAre("[unknown]"), 1)))));
}

TEST(ReportOtlp, TablesBeginWithTheEmptyElementAndHaveNoDuplicates) {
  const Request file = exported();
  for (const uint32_t table : {1, 2, 3, 5, 6, 7}) {
    const auto texts = file.tables.texts(table);
    ASSERT_FALSE(texts.empty()) << table;
    EXPECT_EQ(texts.front(), "") << table;
    EXPECT_EQ(std::set<std::string>(texts.begin(), texts.end()).size(), texts.size()) << table;
  }
  const Message link = file.tables.one(4);
  EXPECT_EQ(link.texts(1).at(0), std::string(16, '\0'));
  EXPECT_EQ(link.texts(2).at(0), std::string(8, '\0'));
}

}  // namespace
