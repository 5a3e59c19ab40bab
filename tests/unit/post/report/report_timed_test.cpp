// SPDX-License-Identifier: MIT
// What viewers with an axis of time read from the files of --export firefox and --export perfetto.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include <map>
#include <protozero/pbf_reader.hpp>
#include <string>
#include <vector>

#include "gunzip.h"
#include "post_run.h"
#include "text_trace.h"

namespace {

using namespace test_support;
using protozero::pbf_reader;
using testing::Contains;
using testing::ElementsAre;

// Two CPUs: app blocks at 3 ms, is woken on the other CPU by old, and runs again on CPU 1.
constexpr char two_cpus[] = R"(
cpus 2
info rate=1000
info cannot_see=interrupts
section mte 0
1 name 0x20 old
1 name 0x21 app
1 module 0x21 0x1000 0x1000 0 /bin/app
section trace 0
1000000 dispatch 0x20 0x20 runnable
2000000 dispatch 0x21 0x22 sleeping
2100000 tick user 0x21 0x22 0x1104
2200001 tick user 0x21 0x22 0x1124 stack user 0x1108
2300000 ints 0x40 7 11 12
3000000 dispatch 0 0 uninterruptible
section trace 1
1500000 dispatch 0x20 0x20 runnable
3500000 wakeup 0x22 0x20 1
3600000 wakeup 0x23 0 1 interrupt
4000000 dispatch 0x21 0x22 preempted
5000000 tick user 0x21 0x22 0x1124 stack user 0x1108
)";

// The caller of a tick, and where a thread blocks, are guesses.
constexpr char guesses[] = R"(
cpus 1
info rate=1000
info stacks=user
section mte 0
1 name 0x21 app
1 module 0x21 0x1000 0x1000 0 /bin/app
section trace 0
1000000 dispatch 0x21 0x21 runnable
2000000 tick user 0x21 0x21 0x1124 stack user 0x1128 0x1108 tables-1
2100000 tick user 0x21 0x21 0x1124 stack user 0x1128 0x1108 user-whole tables-2
3000000 dispatch 0 0 sleeping stack user 0x1124 0x1108 tables-1
4000000 dispatch 0x21 0x21 runnable
)";

PostRun exported(const char* format, const std::vector<std::string>& processes = {},
                 const char* text = two_cpus) {
  FakeSymbolizer symbolizer;
  symbolizer.add_symbol("/bin/app", 0x100, 0x20, "_start");
  symbolizer.add_symbol("/bin/app", 0x120, 0x20, "work");
  const auto trace = trace_from_text(text);
  EXPECT_TRUE(trace) << trace.error().message;
  post::Options options;
  options.exports = {format};
  options.report.selection.names[static_cast<size_t>(post::NameKind::process)].only = processes;
  return run_post(*trace, symbolizer, options);
}

// The numbers and texts of a message's fields that are no messages, by the numbers of the fields.
struct Fields {
  std::map<uint32_t, int64_t> number;
  std::map<uint32_t, std::string> bytes;  // the last one; also of messages
  std::map<uint32_t, std::vector<std::string>> all;
};

Fields fields_of(const std::string& bytes) {
  Fields fields;
  pbf_reader reader(bytes);
  while (reader.next()) {
    const uint32_t tag = reader.tag();
    if (reader.wire_type() == protozero::pbf_wire_type::varint)
      fields.number[tag] = reader.get_int64();
    else
      fields.all[tag].push_back(fields.bytes[tag] = reader.get_string());
  }
  return fields;
}

// The trace as lines, and the texts that it interns.
class PerfettoTrace {
 public:
  explicit PerfettoTrace(const std::string& bytes) {
    const Fields trace = fields_of(bytes);
    EXPECT_EQ(trace.all.size(), 1u);
    for (const std::string& packet : trace.all.at(1)) take(fields_of(packet));
  }
  std::vector<std::string> events, samples, hooks, threads;

 private:
  void take(Fields packet) {
    if (packet.all.contains(1)) {
      Fields bundle = fields_of(packet.bytes[1]);
      take_event(bundle.number[1], fields_of(bundle.bytes[2]));
    }
    if (packet.all.contains(2)) {
      Fields tree = fields_of(packet.bytes[2]);
      Fields process = fields_of(tree.bytes[1]), thread = fields_of(tree.bytes[2]);
      EXPECT_EQ(process.number[1], thread.number[3]);
      threads.push_back(fmt::format("{} {} {} {}", process.number[1], process.bytes[3],
                                    thread.number[1], thread.bytes[2]));
    }
    for (const std::string& bytes : packet.all[12]) intern(fields_of(bytes));
    if (packet.all.contains(60)) {
      Fields track = fields_of(packet.bytes[60]);
      tracks_[track.number[1]] = track.all.contains(4)
                                     ? fmt::format("tid {}", fields_of(track.bytes[4]).number[2])
                                     : track.bytes[2];
    }
    if (packet.all.contains(11)) {
      Fields event = fields_of(packet.bytes[11]);
      EXPECT_EQ(event.number[9], 3);
      std::string text =
          fmt::format("{} {}: {}", packet.number[8], tracks_.at(event.number[11]), event.bytes[23]);
      for (const std::string& annotation : event.all[4])
        text +=
            fmt::format(" {}={}", fields_of(annotation).bytes[10], fields_of(annotation).number[3]);
      hooks.push_back(text);
    }
    if (packet.all.contains(66)) take_sample(packet.number[8], fields_of(packet.bytes[66]));
  }

  void take_event(int64_t cpu, Fields event) {
    std::string text = fmt::format("{} CPU {} by {}: ", event.number[1], cpu, event.number[2]);
    if (event.all.contains(4)) {
      Fields change = fields_of(event.bytes[4]);
      EXPECT_EQ(event.number[2], change.number[2]);
      text += fmt::format("{} state {} -> {} {}", change.bytes[1], change.number[4],
                          change.number[6], change.bytes[5]);
    } else {
      Fields woken = fields_of(event.bytes[20]);
      text += fmt::format("wakes {} {}{}", woken.number[2], woken.bytes[1],
                          event.number[5] == 8 ? " in an interrupt" : "");
    }
    events.push_back(text);
  }

  void intern(Fields data) {
    for (const std::string& bytes : data.all[5]) {
      Fields item = fields_of(bytes);
      functions_[item.number[1]] = item.bytes[2];
    }
    for (const std::string& bytes : data.all[17]) {
      Fields item = fields_of(bytes);
      paths_[item.number[1]] = item.bytes[2];
    }
    for (const std::string& bytes : data.all[19]) {
      Fields item = fields_of(bytes);
      mappings_[item.number[1]] = paths_.at(item.number[7]);
    }
    for (const std::string& bytes : data.all[6]) {
      Fields item = fields_of(bytes);
      frames_[item.number[1]] = functions_.at(item.number[2]) + ":" + mappings_.at(item.number[3]);
    }
    for (const std::string& bytes : data.all[7]) {
      pbf_reader stack(bytes);
      int64_t id = 0;
      std::string text;
      while (stack.next()) {
        if (stack.tag() == 1)
          id = stack.get_int64();
        else
          text += " " + frames_.at(stack.get_int64());
      }
      stacks_[id] = text;
    }
  }

  void take_sample(int64_t time, Fields sample) {
    samples.push_back(fmt::format("{} CPU {} {}/{} {}:{}", time, sample.number[1], sample.number[2],
                                  sample.number[3], sample.number[5] == 2 ? "user" : "other",
                                  stacks_.at(sample.number[4])));
  }

  std::map<int64_t, std::string> tracks_, functions_, paths_, mappings_, frames_, stacks_;
};

TEST(ReportTimed, PerfettoHasEachSwitchWakeUpTickAndHook) {
  const PerfettoTrace trace(exported("perfetto").perfetto);
  EXPECT_THAT(trace.events,
              ElementsAre("1000000 CPU 0 by 2147483647: [unknown] state 0 -> 32 old",
                          // old is seen on two CPUs: that it left the first one is missing.
                          "1500000 CPU 0 by 32: old state 0 -> 2147483647 [unknown]",
                          "1500000 CPU 1 by 2147483647: [unknown] state 0 -> 32 old",
                          "2000000 CPU 0 by 2147483647: [unknown] state 0 -> 34 app",
                          "3000000 CPU 0 by 34: app state 2 -> 0 swapper",
                          "3500000 CPU 1 by 32: wakes 34 app",
                          "3600000 CPU 1 by 0: wakes 35 [tid 35] in an interrupt",
                          "4000000 CPU 1 by 32: old state 256 -> 34 app",
                          "5000000 CPU 0 by 0: swapper state 0 -> 2147483647 [unknown]",
                          "5000000 CPU 1 by 34: app state 0 -> 2147483647 [unknown]"));
  EXPECT_THAT(trace.samples,
              ElementsAre("2100000 CPU 0 33/34 user: _start:/bin/app",
                          "2200001 CPU 0 33/34 user: _start:/bin/app work:/bin/app",
                          "5000000 CPU 1 33/34 user: _start:/bin/app work:/bin/app"));
  EXPECT_THAT(trace.hooks, Contains("2300000 tid 34: hook 0x40.0x7 integer 1=11 integer 2=12"));
  EXPECT_THAT(trace.hooks, Contains("1000000 What this trace lacks: interrupts"));
  EXPECT_THAT(trace.threads, ElementsAre("32 old 32 old", "33 app 34 app"));
}

TEST(ReportTimed, PerfettoShowsThreadsThatAreNotSelectedAsUnknown) {
  const PerfettoTrace trace(exported("perfetto", {"app"}).perfetto);
  EXPECT_THAT(trace.threads, ElementsAre("33 app 34 app"));
  EXPECT_THAT(trace.events, Contains("4000000 CPU 1 by 2147483647: [unknown] state 0 -> 34 app"));
  for (const std::string& event : trace.events)
    EXPECT_EQ(event.find("old"), std::string::npos) << event;
}

TEST(ReportTimed, PerfettoMarksGuesses) {
  const PerfettoTrace trace(exported("perfetto", {}, guesses).perfetto);
  EXPECT_THAT(
      trace.samples,
      ElementsAre("2000000 CPU 0 33/33 user: _start_[g]:/bin/app work:/bin/app work:/bin/app",
                  "2100000 CPU 0 33/33 user: _start:/bin/app work:/bin/app work:/bin/app"));
  EXPECT_THAT(trace.hooks, Contains(testing::HasSubstr("end in _[g] are guesses")));
}

// The stack as text, the outermost function first.
std::string stack_of(const nlohmann::json& shared, const nlohmann::json& number) {
  if (number.is_null()) return "";
  const size_t stack = number.get<size_t>();
  const size_t frame = shared["stackTable"]["frame"][stack].get<size_t>();
  const size_t function = shared["frameTable"]["func"][frame].get<size_t>();
  const size_t name = shared["funcTable"]["name"][function].get<size_t>();
  return stack_of(shared, shared["stackTable"]["prefix"][stack]) + " " +
         shared["stringArray"][name].get<std::string>();
}

TEST(ReportTimed, FirefoxHasTheTicksAndStatesOfEachThread) {
  const auto profile = nlohmann::json::parse(gunzip(exported("firefox").firefox));
  EXPECT_EQ(profile["meta"]["preprocessedProfileVersion"], 60);
  EXPECT_EQ(profile["meta"]["interval"], 1.0);
  EXPECT_EQ(profile["meta"]["extra"][0]["entries"][0]["value"], "interrupts");
  ASSERT_EQ(profile["threads"].size(), 2u);
  const nlohmann::json& app = profile["threads"][1];
  EXPECT_EQ(app["name"], "app");
  EXPECT_EQ(app["pid"], "33");
  EXPECT_EQ(app["tid"], 34);
  EXPECT_EQ(app["samples"]["time"], nlohmann::json::parse("[1.1, 1.200001, 4.0]"));
  std::vector<std::string> stacks, markers;
  for (const nlohmann::json& stack : app["samples"]["stack"])
    stacks.push_back(stack_of(profile["shared"], stack));
  EXPECT_THAT(stacks, ElementsAre(" _start", " _start work", " _start work"));
  for (size_t i = 0; i < app["markers"]["length"]; ++i) {
    const size_t name = app["markers"]["name"][i].get<size_t>();
    markers.push_back(fmt::format("{} {} {} {}", app["markers"]["startTime"][i].dump(),
                                  app["markers"]["endTime"][i].dump(),
                                  profile["shared"]["stringArray"][name].get<std::string>(),
                                  app["markers"]["data"][i].dump()));
  }
  EXPECT_THAT(
      markers,
      ElementsAre(R"(1.3 null hook 0x40.0x7 {"cpu":0,"type":"Hook"})",
                  R"(1.0 2.0 Running {"cpu":0,"reason":"uninterruptible","type":"State"})",
                  R"(2.0 2.5 Blocked {"reason":"uninterruptible","type":"State"})",
                  R"(2.5 3.0 Waiting for a CPU {"reason":"uninterruptible","type":"State"})",
                  R"(3.0 4.0 Running {"cpu":1,"type":"State"})"));
  // Every column of a table has its length.
  for (const char* table : {"stackTable", "frameTable", "funcTable", "resourceTable"}) {
    const nlohmann::json& columns = profile["shared"][table];
    for (const auto& [name, column] : columns.items()) {
      if (name != "length") {
        EXPECT_EQ(column.size(), columns["length"].get<size_t>()) << name;
      }
    }
  }
  EXPECT_EQ(profile["libs"][0]["path"], "/bin/app");
}

TEST(ReportTimed, FirefoxMarksGuesses) {
  const auto profile = nlohmann::json::parse(gunzip(exported("firefox", {}, guesses).firefox));
  const nlohmann::json& app = profile["threads"][0];
  std::vector<std::string> stacks;
  for (const nlohmann::json& stack : app["samples"]["stack"])
    stacks.push_back(stack_of(profile["shared"], stack));
  EXPECT_THAT(stacks, ElementsAre(" _start_[g] work work", " _start work work"));
  for (const nlohmann::json& data : app["markers"]["data"])
    if (data.contains("cause")) {
      EXPECT_EQ(stack_of(profile["shared"], data["cause"]["stack"]), " _start_[g] work");
    }
  // The subcategory of each function's frame, by its name.
  std::map<std::string, std::string> named;
  const nlohmann::json& frames = profile["shared"]["frameTable"];
  for (size_t i = 0; i < frames["length"]; ++i) {
    const size_t function = frames["func"][i].get<size_t>();
    const size_t name = profile["shared"]["funcTable"]["name"][function].get<size_t>();
    const nlohmann::json& category =
        profile["meta"]["categories"][frames["category"][i].get<size_t>()];
    named[profile["shared"]["stringArray"][name].get<std::string>()] =
        category["name"].get<std::string>() + "/" +
        category["subcategories"][frames["subcategory"][i].get<size_t>()].get<std::string>();
  }
  EXPECT_THAT(named, testing::UnorderedElementsAre(testing::Pair("_start_[g]", "User/Guessed"),
                                                   testing::Pair("_start", "User/Other"),
                                                   testing::Pair("work", "User/Other")));
  EXPECT_THAT(profile["meta"]["extra"][0]["entries"].back()["value"].get<std::string>(),
              testing::HasSubstr("end in _[g] are guesses"));
}

}  // namespace
