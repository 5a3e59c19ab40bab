// SPDX-License-Identifier: MIT
// tprof.json contains the data of tprof.out.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "post_run.h"
#include "text_trace.h"

namespace {

using namespace test_support;
using Json = nlohmann::json;

constexpr char four_ticks[] = R"(
cpus 2
info source=perf
info scope=process
info pid=32
info cannot_see=interrupts
info platform=Debian
info cpu_hz=1000
info rate=100
info missed.task_rename=2
info count.0.trace.produced=7
info count.0.trace.written=4
info count.0.trace.full=3
section mte 0
1 name 0x20 a\xff
1 module 0x20 0x1000 0x100 0 /bin/a
section trace 0
1000000000 tick user 0x20 0x20 0x1001
2000000000 tick user 0x20 0x20 0x1002
3000000000 tick user 0x20 0x20 0x1080
4000000000 tick user 0x20 0x20 0x9000
)";

Json run_json(const post::Options& options = {}) {
  FakeSymbolizer symbolizer;
  symbolizer.add_symbol("/bin/a", 0, 0x10, "main");
  symbolizer.add_note("a note");
  const auto trace = trace_from_text(four_ticks);
  EXPECT_TRUE(trace) << trace.error().message;
  return Json::parse(run_post(*trace, symbolizer, options).json);
}

TEST(ReportJson, ContainsTheHeadOfTheTextReport) {
  const Json json = run_json();
  EXPECT_EQ(json["schema"], "pitrace-tprof");
  EXPECT_EQ(json["schema_version"], 1);
  const Json& trace = json["trace"];
  EXPECT_EQ(trace["source"], "perf");
  EXPECT_EQ(trace["scope"], "process");
  EXPECT_EQ(trace["pid"], 32);
  EXPECT_EQ(trace["cannot_see"], Json::array({"interrupts"}));
  EXPECT_EQ(trace["processors"], 2);
  EXPECT_EQ(trace["processor_speed_hz"], 1000);
  EXPECT_EQ(trace["trace_cycles"], 3000000000u);
  EXPECT_EQ(trace["trace_time_s"], 3.0);
  EXPECT_EQ(trace["tick_ns"], 10000000);
  EXPECT_EQ(json["ticks"], 4);
  EXPECT_EQ(json["symbol_notes"], Json::array({"a note"}));
}

TEST(ReportJson, RowsOfOneProcessAndOneThreadHaveTheirIds) {
  const Json json = run_json();
  const Json& row = json["reports"][5]["rows"][0];
  EXPECT_EQ(row["pid"], 32);
  EXPECT_EQ(row["children"][0]["tid"], 32);
  EXPECT_FALSE(row["children"][0]["children"][0].contains("tid"));
  FakeSymbolizer symbolizer;
  post::Options names_only;
  names_only.report.labels = {true, true, false};
  const auto trace = trace_from_text(
      "cpus 1\nsection mte 0\n1 name 0x20 a\n1 name 0x21 a\nsection trace 0\n"
      "2 tick user 0x20 0x20 0x1\n3 tick user 0x21 0x21 0x1\n");
  ASSERT_TRUE(trace);
  const Json two = Json::parse(run_post(*trace, symbolizer, names_only).json);
  EXPECT_EQ(two["reports"][0]["rows"].size(), 1u);
  EXPECT_FALSE(two["reports"][0]["rows"][0].contains("pid"));
}

TEST(ReportJson, ContainsRecordsLossesAndUnresolvedTicks) {
  const Json json = run_json();
  EXPECT_EQ(json["records"]["read"], 8);
  EXPECT_EQ(json["records"]["tprof"], 4);
  EXPECT_EQ(json["records"]["mte"], 2);
  EXPECT_EQ(json["records"]["time"], 2);
  EXPECT_EQ(json["losses"]["produced"], 7);
  EXPECT_EQ(json["losses"]["written"], 4);
  EXPECT_EQ(json["losses"]["lost"], 3);
  EXPECT_EQ(json["losses"]["full"], 3);
  ASSERT_EQ(json["losses"]["buffers"].size(), 1u);
  EXPECT_EQ(json["losses"]["buffers"][0]["cpu"], 0);
  EXPECT_EQ(json["losses"]["buffers"][0]["kind"], "trace");
  EXPECT_EQ(json["losses"]["missed"]["task_rename"], 2);
  EXPECT_EQ(json["unresolved"]["no_module"], 1);
  EXPECT_EQ(json["unresolved"]["no_symbol"], 1);
  EXPECT_EQ(json["damage"]["places"], 0);
}

TEST(ReportJson, NestsRowsByTheLevelsOfTheReport) {
  post::Options options;
  options.report.selected = {false, false, true, false, false, false, false, false};
  options.report.offsets = true;
  const Json json = run_json(options);
  ASSERT_EQ(json["reports"].size(), 2u);
  const Json& report = json["reports"][0];
  EXPECT_EQ(report["title"], "Process_Module_Symbol");
  EXPECT_EQ(report["levels"], Json::array({"process", "module", "symbol"}));
  ASSERT_EQ(report["rows"].size(), 1u);
  const Json& process = report["rows"][0];
  EXPECT_EQ(process["kind"], "process");
  EXPECT_EQ(process["name"], "a\\xff_0020");
  EXPECT_EQ(process["ticks"], 4);
  EXPECT_EQ(process["percent"], 100.0);
  ASSERT_EQ(process["children"].size(), 2u);
  EXPECT_EQ(process["children"][0]["name"], "/bin/a");
  EXPECT_EQ(process["children"][0]["percent"], 75.0);
  const Json& symbol = process["children"][0]["children"][0];
  EXPECT_EQ(symbol["name"], "main");
  EXPECT_EQ(symbol["ticks"], 2);
  EXPECT_FALSE(symbol.contains("children"));
  EXPECT_EQ(json["reports"][1]["title"], "Module_Symbol_Offset");
}

TEST(ReportJson, IdsInThePidNamespaceHaveTheirNewAndTheirOlderKeys) {
  FakeSymbolizer symbolizer;
  const auto trace = trace_from_text(R"(
section mte 0
1 name 0x20 a
2 ints 0x19 0x68 0x20 0x20 1 1 77
3 ints 0x19 0x68 0x20 0x21 1 2 77
section trace 0
1000000000 tick user 0x20 0x20 0x1001
)");
  ASSERT_TRUE(trace) << trace.error().message;
  const Json json = Json::parse(run_post(*trace, symbolizer, {}).json);
  ASSERT_EQ(json["processes"].size(), 1u);
  const Json& process = json["processes"][0];
  EXPECT_EQ(process["pid_namespace"], 77);
  EXPECT_EQ(process["pid_in_namespace"], 1);
  EXPECT_EQ(process["threads_in_namespace"],
            Json::array({{{"tid", 0x21}, {"tid_in_namespace", 2}}}));
  EXPECT_EQ(process["inner_pid"], 1);
  EXPECT_EQ(process["inner_threads"], Json::array({{{"tid", 0x21}, {"inner_tid", 2}}}));
}

}  // namespace
