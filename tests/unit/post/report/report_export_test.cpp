// SPDX-License-Identifier: MIT
// What pprof reads from the file of --export pprof, by the numbers of the fields of its
// profile.proto.
#include <gmock/gmock.h>

#include <map>
#include <protozero/pbf_reader.hpp>
#include <string>
#include <vector>

#include "gunzip.h"
#include "post_run.h"
#include "text_trace.h"

namespace {

using namespace test_support;
using testing::ElementsAre;
using testing::Pair;
using testing::UnorderedElementsAre;

constexpr char three_stacks[] = R"(
info rate=100
info host=a host
info cannot_see=interrupts
section mte 0
1 name 0x20 app
1 module 0x20 0x1000 0x1000 0 /bin/app
1 module 0x20 0x3000 0x1000 0 /lib/lib.so
section trace 0
10000000 tick user 0x20 0x20 0x1124 stack user 0x1108
20000000 tick user 0x20 0x20 0x3104 stack user 0x1128 0x1108
30000000 tick user 0x20 0x20 0x3104 stack user 0x1128 0x1108
40000000 tick user 0x20 0x20 0x9000
)";

struct Profile {
  std::vector<std::string> strings;
  std::vector<std::pair<int64_t, int64_t>> types;
  struct Sample {
    std::vector<uint64_t> locations;
    std::vector<int64_t> values;
    std::map<int64_t, int64_t> labels;
  };
  std::vector<Sample> samples;
  std::map<uint64_t, int64_t> mappings;                         // file name
  std::map<uint64_t, std::pair<uint64_t, uint64_t>> locations;  // mapping and function
  std::map<uint64_t, int64_t> functions;                        // name
  std::vector<int64_t> comments;
  int64_t period = 0;

  std::string at(int64_t number) const { return strings.at(static_cast<size_t>(number)); }
  std::string function_of(uint64_t location) const {
    return at(functions.at(locations.at(location).second));
  }
  std::string module_of(uint64_t location) const {
    const uint64_t mapping = locations.at(location).first;
    return mapping == 0 ? "" : at(mappings.at(mapping));
  }
};

// The numbers of a message's fields that are no messages.
std::map<uint32_t, int64_t> numbers_of(protozero::pbf_reader message) {
  std::map<uint32_t, int64_t> numbers;
  while (message.next()) {
    if (message.wire_type() == protozero::pbf_wire_type::varint)
      numbers[message.tag()] = message.get_int64();
    else
      message.skip();
  }
  return numbers;
}

Profile::Sample sample_from(protozero::pbf_reader message) {
  Profile::Sample sample;
  while (message.next()) {
    if (message.tag() == 1)
      for (const uint64_t location : message.get_packed_uint64())
        sample.locations.push_back(location);
    else if (message.tag() == 2)
      for (const int64_t value : message.get_packed_int64()) sample.values.push_back(value);
    else if (auto label = numbers_of(message.get_message()); true)
      sample.labels[label[1]] = label[2];
  }
  return sample;
}

std::pair<uint64_t, uint64_t> location_from(protozero::pbf_reader message) {
  auto numbers = numbers_of(message);
  uint64_t function = 0;
  while (message.next(4)) function = static_cast<uint64_t>(numbers_of(message.get_message())[1]);
  return {static_cast<uint64_t>(numbers[2]), function};
}

Profile profile_from(const std::string& bytes) {
  Profile profile;
  protozero::pbf_reader reader(bytes);
  while (reader.next()) {
    if (reader.tag() == 6) {
      profile.strings.push_back(reader.get_string());
    } else if (reader.tag() == 13) {
      for (const int64_t comment : reader.get_packed_int64()) profile.comments.push_back(comment);
    } else if (reader.tag() == 12) {
      profile.period = reader.get_int64();
    } else if (reader.tag() >= 1 && reader.tag() <= 5) {
      const uint32_t tag = reader.tag();
      const protozero::pbf_reader message = reader.get_message();
      auto numbers = numbers_of(message);
      const auto id = static_cast<uint64_t>(numbers[1]);
      if (tag == 1) profile.types.emplace_back(numbers[1], numbers[2]);
      if (tag == 2) profile.samples.push_back(sample_from(message));
      if (tag == 3) profile.mappings[id] = numbers[5];
      if (tag == 4) profile.locations[id] = location_from(message);
      if (tag == 5) profile.functions[id] = numbers[2];
    } else {
      reader.skip();
    }
  }
  return profile;
}

Profile exported(const char* text) {
  FakeSymbolizer symbolizer;
  symbolizer.add_symbol("/bin/app", 0x100, 0x20, "_start");
  symbolizer.add_symbol("/bin/app", 0x120, 0x20, "work");
  symbolizer.add_symbol("/lib/lib.so", 0x100, 0x20, "library");
  const auto trace = trace_from_text(text);
  EXPECT_TRUE(trace) << trace.error().message;
  post::Options options;
  options.exports = {"pprof"};
  return profile_from(gunzip(run_post(*trace, symbolizer, options).pprof));
}

TEST(ReportExport, EachStackIsASampleWithItsFunctionsAndModules) {
  const Profile profile = exported(three_stacks);
  ASSERT_FALSE(profile.strings.empty());
  EXPECT_EQ(profile.at(0), "");
  ASSERT_EQ(profile.types.size(), 2u);
  EXPECT_EQ(profile.at(profile.types[0].first) + " " + profile.at(profile.types[0].second),
            "ticks count");
  EXPECT_EQ(profile.at(profile.types[1].first) + " " + profile.at(profile.types[1].second),
            "cpu nanoseconds");
  EXPECT_EQ(profile.period, 10'000'000);
  std::map<std::string, std::vector<int64_t>> ticks;
  for (const Profile::Sample& sample : profile.samples) {
    std::string stack;
    for (const uint64_t location : sample.locations)
      stack += profile.function_of(location) + ":" + profile.module_of(location) + " ";
    EXPECT_TRUE(ticks.emplace(stack, sample.values).second) << stack;
    ASSERT_EQ(sample.labels.size(), 1u);
    EXPECT_EQ(profile.at(sample.labels.begin()->first), "process");
    EXPECT_EQ(profile.at(sample.labels.begin()->second), "app_0020");
  }
  EXPECT_THAT(ticks, UnorderedElementsAre(
                         Pair("work:/bin/app _start:/bin/app ", ElementsAre(1, 10'000'000)),
                         Pair("library:/lib/lib.so work:/bin/app _start:/bin/app ",
                              ElementsAre(2, 20'000'000)),
                         Pair("[unknown]: ", ElementsAre(1, 10'000'000))));
  EXPECT_EQ(profile.at(profile.mappings.at(1)), "/lib/lib.so");  // has most ticks
  ASSERT_FALSE(profile.comments.empty());
  EXPECT_EQ(profile.at(profile.comments[0]), "interrupts");
}

TEST(ReportExport, StacksWithAGuessHaveALabel) {
  const Profile profile = exported(R"(
info rate=100
info stacks=user
section mte 0
1 name 0x20 app
1 module 0x20 0x1000 0x1000 0 /bin/app
section trace 0
10000000 tick user 0x20 0x20 0x1124 stack user 0x1128 0x1108 tables-1
20000000 tick user 0x20 0x20 0x1124 stack user 0x1128 0x1108 user-whole tables-2
)");
  std::map<std::string, std::string> labels;
  for (const Profile::Sample& sample : profile.samples) {
    std::string stack, text;
    for (const uint64_t location : sample.locations) stack += profile.function_of(location) + " ";
    for (const auto& [key, value] : sample.labels)
      text += profile.at(key) + "=" + profile.at(value) + " ";
    labels[stack] = text;
  }
  EXPECT_THAT(labels, UnorderedElementsAre(
                          Pair("work work _start ", "process=app_0020 "),
                          Pair("work work _start_[g] ", "process=app_0020 callers=guessed ")));
  EXPECT_THAT(profile.at(profile.comments.back()), testing::HasSubstr("end in _[g] are guesses"));
}

}  // namespace
