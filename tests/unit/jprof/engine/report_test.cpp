// SPDX-License-Identifier: MIT
// The reports of one recording with known numbers.
#include "report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <nlohmann/json.hpp>

#include <pi/files.h>

#include "event_log.h"
#include "fake_program.h"
#include "file_limit.h"

namespace pi::callflow {
namespace {

using testing::HasSubstr;

std::string name_of(uint64_t method) {
  return "m" + std::to_string(method) + "()";
}

CallNode node(uint32_t level, size_t parent, uint64_t method, uint64_t calls, uint64_t callees,
              int64_t base, int64_t delta) {
  CallNode n;
  n.level = level;
  n.parent = parent;
  n.method = method;
  n.type = Type::jitted;
  n.calls = calls;
  n.callees = callees;
  n.base = {base, 2 * base};
  n.delta = {delta, 2 * delta};
  return n;
}

// The shape of the paper's Figure 6.
Snapshot hellop(size_t metrics) {
  Snapshot snapshot;
  const Metric names[] = {{"PTT_INSTS", "events"}, {"PTT_CYCLES", "cycles"}};
  for (size_t i = 0; i < metrics; ++i) {
    snapshot.metrics.push_back(names[i]);
    snapshot.bounds.push_back({1.25, 0.01});
  }
  TreeCopy thread;
  thread.tid = 0x12ab;
  thread.name = "main";
  thread.nodes = {node(0, no_parent, 0, 0, 1000, 0, 0), node(1, 0, 1, 1000, 1000, 11888, 2378000),
                  node(2, 1, 3, 1000, 0, 7004919, 1225000)};
  thread.nodes[1].dispatches = 1;
  thread.nodes[2].interrupts = 12;
  thread.nodes[2].entered_before = true;
  snapshot.threads.push_back(thread);
  return snapshot;
}

std::string rows(const std::string& report) {
  const size_t begin = report.find("\n\n") + 2;
  return report.substr(begin, report.find("\n\n", begin) - begin);
}

TEST(LogRt, OneMetricHasTheColumnsOfThePaper) {
  Snapshot snapshot = hellop(1);
  snapshot.has_dispatches = true;
  const std::string report = log_rt(snapshot, {.heading = " heading\n"}, name_of);
  EXPECT_TRUE(report.starts_with(" heading\n"));
  EXPECT_THAT(report, HasSubstr(" : DELTA = What calibration has subtracted from BASE\n"));
  EXPECT_THAT(report, HasSubstr("PTT_INSTS: error bound 1.25 events a call or return; 1.000 % of"));
  EXPECT_EQ(rows(report),
            "  LV      CALLS        CEE        BASE       DELTA     DS     IN  NAME\n"
            "   0          0       1000           0           0      0      0  000012AB_main\n"
            "   1       1000       1000       11888     2378000      1      0  J:m1()\n"
            "   2       1000          0     7004919     1225000      0     12  J:m3() [entered "
            "before the start]\n");
}

TEST(LogRt, SeveralMetricsHaveAColumnEach) {
  const Snapshot snapshot = hellop(2);
  ReportSettings settings;
  settings.columns = {{"PTT_INSTS", Column::Kind::sum, 0, 0, 3},
                      {"PTT_CYCLES", Column::Kind::sum, 1, 0, 0},
                      {"CPI", Column::Kind::ratio, 1, 0, 0},
                      {"LAT_CYCLES", Column::Kind::difference, 1, 0, 0}};
  settings.types = false;
  EXPECT_EQ(rows(log_rt(snapshot, settings, name_of)),
            "  LV      CALLS        CEE   PTT_INSTS  PTT_CYCLES         CPI  LAT_CYCLES  NAME\n"
            "   0          0       1000           0           0        0.00           0  "
            "000012AB_main\n"
            "   1       1000       1000          11       23776        2.00       11888  m1()\n"
            "   2       1000          0        7004    14009838        2.00     7004919  m3() "
            "[entered before the start]\n");
}

TEST(LogRt, WithoutMetricsOnlyCallsAreShown) {
  EXPECT_EQ(rows(log_rt(hellop(0), {}, name_of)),
            "  LV      CALLS        CEE  NAME\n"
            "   0          0       1000  000012AB_main\n"
            "   1       1000       1000  J:m1()\n"
            "   2       1000          0  J:m3() [entered before the start]\n");
}

TEST(LogRt, LossesAreReported) {
  Snapshot snapshot = hellop(0);
  EXPECT_EQ(log_rt(snapshot, {}, name_of).find("Lost ::"), std::string::npos);
  snapshot.losses = {1, 2, 3, 4, 5, 6, 7};
  const std::string report = log_rt(snapshot, {}, name_of);
  for (const char* line :
       {" Lost :: 1 calls are counted in their callers", " Lost :: 2 calls are not counted",
        " Lost :: 3 events of signal handlers", " Lost :: 4 events that a signal handler left",
        " Lost :: 5 events without a value", " Lost :: 6 events that could not be written",
        " Lost :: 7 threads without a tree"})
    EXPECT_THAT(report, HasSubstr(line));
}

TEST(LogRt, NamesCannotBreakALine) {
  const std::string report = log_rt(hellop(0), {}, [](uint64_t) { return "a\nb\x1b[31m"; });
  EXPECT_THAT(report, HasSubstr("J:a\\x0ab\\x1b[31m"));
}

TEST(LogRtJson, HasTheSameNumbers) {
  const auto json = nlohmann::json::parse(
      log_rt_json(hellop(2), [](uint64_t) { return "a \"quoted\\ name\"\n"; }));
  EXPECT_EQ(json["schema_version"], 1);
  EXPECT_EQ(json["metrics"][1]["name"], "PTT_CYCLES");
  EXPECT_EQ(json["metrics"][0]["error_bound"], 1.25);
  const auto& nodes = json["threads"][0]["nodes"];
  ASSERT_EQ(nodes.size(), 3u);
  EXPECT_EQ(nodes[1]["base"], (std::vector<int>{11888, 23776}));
  EXPECT_EQ(nodes[2]["delta"][0], 1225000);
  EXPECT_EQ(nodes[2]["name"], "a \"quoted\\ name\"\\x0a");
  EXPECT_EQ(nodes[2]["entered_before"], true);
  EXPECT_FALSE(nodes[1].contains("entered_before"));
}

TEST(LogRtJson, HasTheSequencesOfTheCalibration) {
  begin_test();
  ASSERT_TRUE(start(one_metric()));
  for (int i = 0; i < 40; ++i) call(1);
  stop();
  const auto json = nlohmann::json::parse(log_rt_json(counts_now(), name_of));
  bool found = false;
  for (const auto& s : json["sequences"])
    if (s["sequence"] == std::vector<std::string>{"O", "En", "F", "Ex", "O"}) {
      found = true;
      EXPECT_EQ(s["count"], 40);
      EXPECT_EQ(s["minimum"], 20 + after_entry + before_exit + 1);
      EXPECT_EQ(s["subtracted"], 20 + after_entry + before_exit);
      EXPECT_EQ(s["trained"], true);
    }
  EXPECT_TRUE(found);
}

TEST(Folded, IsOneLineForEachNode) {
  EXPECT_EQ(folded(hellop(0), 0, name_of),
            "000012AB_main;m1() 1000\n"
            "000012AB_main;m1();m3() 1000\n");
  EXPECT_EQ(folded(hellop(1), 0, [](uint64_t) { return "a;b"; }),
            "000012AB_main;a,b 11888\n"
            "000012AB_main;a,b;a,b 7004919\n");
}

TEST(Folded, DeepCallsAreOneFrame) {
  Snapshot snapshot;
  snapshot.threads.resize(1);
  auto& nodes = snapshot.threads[0].nodes;
  for (uint32_t level = 0; level < 10'000; ++level)
    nodes.push_back(node(level, level == 0 ? no_parent : level - 1, 1, 1, 1, 0, 0));
  nodes.push_back(node(1, 0, 2, 5, 0, 0, 0));
  const std::string text = folded(snapshot, 0, name_of);
  EXPECT_LT(text.size(), 300'000u);
  EXPECT_THAT(text, HasSubstr(";m1();[deeper] 9743\n"));
  EXPECT_THAT(text, testing::EndsWith(";m2() 5\n"));
}

class LogGen : public testing::Test {
 protected:
  void SetUp() override {
    begin_test();
    events_ = ::memfd_create("events", MFD_CLOEXEC);
    out_ = ::memfd_create("log-gen", MFD_CLOEXEC);
    ASSERT_EQ(::fcntl(events_, F_SETFL, O_APPEND), 0);
    Settings settings = one_metric();
    settings.event_log = events_;
    ASSERT_TRUE(start(settings));
  }
  void TearDown() override {
    stop();
    ::close(events_);
    ::close(out_);
  }

  std::string text(const Calibration& calibration = {}, const ReportSettings& settings = {},
                   bool json = false) {
    stop();
    flush_event_log();
    const auto format = json ? log_gen_json : log_gen;
    const auto status =
        format(events_, out_, take_snapshot(calibration), calibration, settings, name_of);
    EXPECT_TRUE(status) << status.error().message;
    ::lseek(out_, 0, SEEK_SET);
    return *pi::read_whole(out_, 100 << 20);
  }

  int events_ = -1;
  int out_ = -1;
};

TEST_F(LogGen, EachEventIsALine) {
  call(1, [] { call(2, [] { work(99); }); });
  Calibration off;
  off.on = false;
  const std::string report = text(off);
  EXPECT_TRUE(report.starts_with(" Units :: FAKE\n\n 0 pidtid ")) << report;
  EXPECT_THAT(report, HasSubstr("        0 > F:m1() "));
  EXPECT_THAT(report, HasSubstr("       69 > F:m2() "));
  EXPECT_THAT(report, HasSubstr("      160 < F:m2() "));
  EXPECT_THAT(report, HasSubstr("       85 < F:m1() "));
}

TEST_F(LogGen, MinimaOfTheEventsBeforeAreSubtracted) {
  for (int i = 0; i < 100; ++i) call(1, [=] { work(i < 50 ? 0 : 7); });
  const std::string report = text();
  EXPECT_THAT(report, HasSubstr("\n       61 < F:m1()"));  // not yet known
  EXPECT_THAT(report, HasSubstr("\n        1 < F:m1()"));
  EXPECT_THAT(report, HasSubstr("\n        8 < F:m1()"));
}

TEST_F(LogGen, OnlyStoredMinimaAreSubtractedWithoutLearning) {
  Calibration calibration;
  calibration.learns = false;
  constexpr auto c = Type::c_function;
  const Sequence entered_and_left{c, Transition::entry, c, Transition::exit, c};
  calibration.stored.values[{"FAKE", index_of(entered_and_left)}] = {50, settled_after};
  for (int i = 0; i < 100; ++i) call(1, [=] { work(i < 50 ? 5 : 7); });
  const std::string report = text(calibration);
  // The stored one is of a similar sequence: the caller's type is another.
  EXPECT_THAT(report, HasSubstr("\n       17 < F:m1()"));
  EXPECT_THAT(report, HasSubstr("\n       19 < F:m1()"));
  EXPECT_THAT(report, testing::Not(HasSubstr("\n        1 < F:m1()")));
  EXPECT_THAT(report, HasSubstr("\n       93 > F:m1()"));  // no sequence is similar
}

TEST_F(LogGen, AHiddenMethodIsLeftOutWithItsOwnTime) {
  call(1, [] {
    work(100);
    call(7, [] { work(1000); });
    work(10);
  });
  Calibration off;
  off.on = false;
  ReportSettings settings;
  settings.hidden_method = 7;
  const std::string report = text(off, settings);
  EXPECT_THAT(report, testing::Not(HasSubstr("m7()")));
  const int64_t before = after_entry + 100 + 1 + before_entry + 20;
  const int64_t after = after_exit + 10 + 1 + before_exit + 20;
  EXPECT_THAT(report, HasSubstr("      " + std::to_string(before + after) + " < F:m1() "));
}

TEST_F(LogGen, JsonHasTheSameEvents) {
  call(1, [] {
    enter(my_tree, 2, Type::jitted);
    leave(my_tree, 2, Type::jitted, Transition::exit_by_exception);
  });
  const std::string report = text({}, {}, true);
  EXPECT_TRUE(
      report.starts_with(R"({"schema_version":1,"calibrated":true,"metrics":[{"name":"FAKE",)"))
      << report;
  EXPECT_THAT(report, HasSubstr(R"x("event":"entry","type":"F","name":"m1()","values":[0]})x"));
  EXPECT_THAT(report,
              HasSubstr(R"x("event":"exit_by_exception","type":"J","name":"m2()","values":[)x"));
  EXPECT_THAT(report, testing::EndsWith("]}]}\n"));
  EXPECT_EQ(std::count(report.begin(), report.end(), '\n'), 5);
}

TEST_F(LogGen, ManyBlocksOfEventsAreAllWritten) {
  for (uint64_t i = 0; i < 50000; ++i) {
    enter(my_tree, 1, Type::c_function);
    leave(my_tree, 1, Type::c_function, Transition::exit);
  }
  const std::string report = text();
  EXPECT_EQ(std::count(report.begin(), report.end(), '<'), 50000);
  EXPECT_EQ(std::count(report.begin(), report.end(), '>'), 50000);
}

TEST_F(LogGen, ABlockThatAFullDiskCutIsLostAndAllOthersAreKept) {
  call(1);
  flush_event_log();
  struct stat before {};
  ASSERT_EQ(::fstat(events_, &before), 0);
  call(2);
  {
    const test::FileLimit limit(static_cast<rlim_t>(before.st_size) + 40);
    flush_event_log();
  }
  call(3);
  const std::string report = text();
  EXPECT_THAT(report, HasSubstr("Lost :: 2 events that could not be written"));
  EXPECT_THAT(report, HasSubstr("< F:m1()"));
  EXPECT_THAT(report, testing::Not(HasSubstr("m2()")));
  EXPECT_THAT(report, HasSubstr("> F:m3()"));
  EXPECT_THAT(report, HasSubstr("< F:m3()"));
}

TEST_F(LogGen, ADamagedEndIsReportedAndTheRestIsKept) {
  call(1);
  stop();
  flush_event_log();
  ASSERT_EQ(::write(events_, "damaged damaged damaged", 23), 23);
  const auto status = log_gen(events_, out_, counts_now(), {}, {}, name_of);
  ASSERT_FALSE(status);
  EXPECT_THAT(status.error().message, HasSubstr("damaged and were left out"));
  ::lseek(out_, 0, SEEK_SET);
  EXPECT_THAT(*pi::read_whole(out_, 1 << 20), HasSubstr("< F:m1()"));
}

}  // namespace
}  // namespace pi::callflow
