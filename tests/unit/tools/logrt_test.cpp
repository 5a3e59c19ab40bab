// SPDX-License-Identifier: MIT
// logrt: sums of methods, classes and packages, changes and limits; hostile files.
#include <gmock/gmock.h>

#include <string>
#include <vector>

#include "budget.h"
#include "call_flow.h"
#include "changes.h"
#include "tables.h"
#include "totals.h"

namespace logrt {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::string node(unsigned level, const std::string& name, uint64_t calls, int64_t base) {
  return "{\"level\":" + std::to_string(level) + ",\"calls\":" + std::to_string(calls) +
         ",\"callees\":0,\"base\":[7," + std::to_string(base) + "],\"delta\":[0,0]" +
         (level == 0 ? "" : ",\"type\":\"J\",\"name\":\"" + name + "\"") + "}";
}

std::string file(const std::vector<std::vector<std::string>>& threads,
                 const std::string& lost = "0") {
  std::string text =
      "{\"schema_version\":1,\"calibrated\":true,\"metrics\":["
      "{\"name\":\"FIRST\",\"unit\":\"x\",\"error_bound\":0,\"untrained_share\":0},"
      "{\"name\":\"CYCLES\",\"unit\":\"cycles\",\"error_bound\":2.5,\"untrained_share\":0}],"
      "\"lost\":{\"nodes\":" +
      lost + ",\"threads\":0},\"sequences\":[],\"threads\":[";
  for (size_t i = 0; i < threads.size(); ++i) {
    text += i == 0 ? "" : ",";
    text += "{\"tid\":1,\"name\":\"main\",\"nodes\":[";
    for (size_t n = 0; n < threads[i].size(); ++n) text += (n == 0 ? "" : ",") + threads[i][n];
    text += "]}";
  }
  return text + "]}";
}

CallFlow flow_of(const std::string& text) {
  auto flow = parse_call_flow(text, "file", "CYCLES");
  EXPECT_TRUE(flow) << flow.error().message;
  return flow ? std::move(*flow) : CallFlow{};
}

Totals totals_of(const CallFlow& flow, Level level = Level::method) {
  auto totals = total(flow, level);
  EXPECT_TRUE(totals);
  return totals ? std::move(*totals) : Totals{};
}

std::string error_of(const std::string& text, const std::string& metric = "CYCLES") {
  const auto flow = parse_call_flow(text, "file", metric);
  return flow ? "" : flow.error().message;
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  return text.replace(text.find(from), from.size(), to);
}

MATCHER_P4(IsTotal, name, calls, base, cumulated, "") {
  return arg.name == name && arg.calls == calls && arg.base == base && arg.cumulated == cumulated;
}

const std::string two_threads =
    file({{node(0, "", 1, 10), node(1, "p/A.f()V", 2, 100), node(2, "p/A.g()V", 3, 20),
           node(3, "p/A.f()V", 4, 1000), node(1, "q/B.h()V", 5, -3)},
          {node(0, "", 1, 0), node(1, "p/A.g()V", 6, 7)}});

TEST(LogRt, MethodsAreSummedOverAllThreadsAndRecursionCountsOnce) {
  const Totals totals = totals_of(flow_of(two_threads));
  EXPECT_THAT(totals.rows,
              ElementsAre(IsTotal("", 0u, 10, 1134), IsTotal("p/A.f()V", 6u, 1100, 1120),
                          IsTotal("p/A.g()V", 9u, 27, 1027), IsTotal("q/B.h()V", 5u, -3, -3)));
  EXPECT_EQ(totals.calls, 20u);
  EXPECT_EQ(totals.base, 1134);
}

TEST(LogRt, ClassesAndPackagesAreSummedWithoutCountingTheirOwnCallsTwice) {
  const CallFlow flow = flow_of(two_threads);
  EXPECT_THAT(totals_of(flow, Level::class_of).rows,
              ElementsAre(IsTotal("", 0u, 10, 1134), IsTotal("p/A", 15u, 1127, 1127),
                          IsTotal("q/B", 5u, -3, -3)));
  EXPECT_THAT(totals_of(flow, Level::package).rows,
              ElementsAre(IsTotal("", 0u, 10, 1134), IsTotal("p", 15u, 1127, 1127),
                          IsTotal("q", 5u, -3, -3)));
}

TEST(LogRt, ComponentsOfJavaAndCPlusPlusNames) {
  const auto parts = [](std::string_view name) {
    return std::vector{std::string(component_of(name, Level::class_of)),
                       std::string(component_of(name, Level::package))};
  };
  EXPECT_THAT(parts("java/io/File$1.<init>(Ljava/lang/String;)V"),
              ElementsAre("java/io/File$1", "java/io"));
  EXPECT_THAT(parts("Main.main([Ljava/lang/String;)V"), ElementsAre("Main", ""));
  EXPECT_THAT(parts("com.shop.Cart.add(int)"), ElementsAre("com.shop.Cart", "com.shop"));
  EXPECT_THAT(parts("a::b::C<x::y>::f(std::vector<int>)"), ElementsAre("a::b::C<x::y>", "a::b"));
  EXPECT_THAT(parts("a::(anonymous namespace)::C::f(z::T)"),
              ElementsAre("a::(anonymous namespace)::C", "a::(anonymous namespace)"));
  EXPECT_THAT(parts("a::C::operator>(a::C const&)"), ElementsAre("a::C", "a"));
  EXPECT_THAT(parts("void shop::Cart::add<int>(int)"), ElementsAre("shop::Cart", "shop"));
  EXPECT_THAT(parts("std::function<void (int)>::operator()(int) const"),
              ElementsAre("std::function<void (int)>", "std"));
  EXPECT_THAT(parts("main::{lambda(int)#1}::operator()(int) const"),
              ElementsAre("main::{lambda(int)#1}", "main"));
  EXPECT_THAT(parts("shop::Cart::operator std::string() const"), ElementsAre("shop::Cart", "shop"));
  EXPECT_THAT(parts("a::(anonymous namespace)::b::(anonymous namespace)::f()"),
              ElementsAre("a::(anonymous namespace)::b::(anonymous namespace)",
                          "a::(anonymous namespace)::b"));
  EXPECT_THAT(parts("(anonymous namespace)::f"), ElementsAre("(anonymous namespace)", ""));
  EXPECT_THAT(parts("App$$Lambda/0x00007f1234.run()V"),
              ElementsAre("App$$Lambda/0x00007f1234", ""));
  EXPECT_THAT(parts("p/App$$Lambda/0x00007f1234.run()V"),
              ElementsAre("p/App$$Lambda/0x00007f1234", "p"));
  EXPECT_THAT(parts("f.part.0"), ElementsAre("", ""));
  EXPECT_THAT(parts("main"), ElementsAre("", ""));
  EXPECT_THAT(parts(""), ElementsAre("", ""));
}

TEST(LogRt, TheFirstMetricIsTheDefaultAndUnknownOnesAreNamed) {
  const auto flow = parse_call_flow(two_threads, "file", "");
  ASSERT_TRUE(flow);
  EXPECT_EQ(flow->metric, "FIRST");
  EXPECT_EQ(flow->nodes.at(3).base, 7);
  EXPECT_THAT(error_of(two_threads, "MORE"), HasSubstr("no metric \"MORE\", but FIRST, CYCLES"));
}

TEST(LogRt, FilesOfAnotherFormAreRefusedWithTheReason) {
  EXPECT_THAT(error_of(" LV CALLS CEE NAME"), HasSubstr("it is not JSON"));
  EXPECT_THAT(error_of("[]"), HasSubstr("its schema_version is not 1"));
  EXPECT_THAT(error_of(file({{node(1, "f", 1, 1)}})), HasSubstr("a node has no caller"));
  EXPECT_THAT(error_of(file({{node(0, "", 1, 1), node(2, "f", 1, 1)}})), HasSubstr("no caller"));
  EXPECT_THAT(error_of(file({{"{\"level\":0,\"calls\":-1}"}})),
              HasSubstr("\"calls\" is no whole number"));
  EXPECT_THAT(error_of(file({{node(0, "", 1, 1),
                              "{\"level\":1,\"calls\":1,\"base\":[1],"
                              "\"name\":\"f\"}"}})),
              HasSubstr("different metrics"));
  EXPECT_THAT(error_of(file({{node(0, "", 1, 1)}}, "-3")), HasSubstr("\"lost\" has a member"));
  EXPECT_THAT(error_of(replaced(two_threads, ":2.5", ":-2.5")), HasSubstr("\"error_bound\" is no"));
  EXPECT_THAT(error_of(replaced(two_threads, ":2.5", ":true")), HasSubstr("\"error_bound\" is no"));
  EXPECT_THAT(error_of(replaced(two_threads, "true", "1")), HasSubstr("\"calibrated\" is neither"));
}

TEST(LogRt, ASumThatOverflowsIsAnError) {
  const CallFlow flow = flow_of(file({{node(0, "", 1, INT64_MAX), node(1, "f", 1, INT64_MAX)}}));
  EXPECT_FALSE(total(flow, Level::method));
}

TEST(LogRt, ChangesWithinTheErrorBoundComeLast) {
  const CallFlow a = flow_of(file({{node(0, "", 1, 0), node(1, "f", 10, 1000),
                                    node(1, "g", 10, 1000), node(1, "h", 10, 1000)}}));
  const CallFlow b = flow_of(file(
      {{node(0, "", 1, 0), node(1, "f", 10, 1100), node(1, "g", 10, 899), node(1, "i", 1, 5000)}}));
  // 10 calls with 2.5 of each call and return, in A and in B: 100.
  const auto all = changes(totals_of(a), totals_of(b), a.error_bound, b.error_bound);
  std::vector<std::string> names;
  for (const Change& change : all)
    names.push_back(change.a.name + (change.within_bound ? "~" : ""));
  EXPECT_THAT(names, ElementsAre("i", "h", "g", "f~", "~"));
  EXPECT_EQ(all.front().base(), 5000);
}

TEST(LogRt, ChangesOfTheLargestSumsDoNotOverflow) {
  const CallFlow a = flow_of(file({{node(0, "", 1, 0), node(1, "f", 1, -INT64_MAX)}}));
  const CallFlow b = flow_of(file({{node(0, "", 1, 0), node(1, "f", 1, INT64_MAX)}}));
  const auto all = changes(totals_of(a), totals_of(b), 0, 0);
  EXPECT_GT(all.front().base(), 1.8e19);
}

TEST(LogRt, DifferentMetricsCannotBeCompared) {
  CallFlow a = flow_of(two_threads), b = a;
  EXPECT_EQ(incomparable(a, b), "");
  b.metric = "OTHER";
  EXPECT_THAT(incomparable(a, b), HasSubstr("name a metric of both"));
}

TEST(LogRt, LimitsAreMeasured) {
  const auto limits = parse_budget(
      "# a comment\n"
      "method p/A.f()V calls 6\n"
      "class p/A  base/call 70.5\n"
      "package p cum 1127\n"
      "method a::f(int, char) base 0\n"
      "class [none] base 9\n",
      "limits");
  ASSERT_TRUE(limits) << limits.error().message;
  const auto results = measure(*limits, flow_of(two_threads));
  ASSERT_TRUE(results);
  std::vector<bool> exceeded;
  for (const auto& result : *results) exceeded.push_back(result.exceeded());
  EXPECT_THAT(exceeded, ElementsAre(false, true, false, false, true));
  const CallFlow flow = flow_of(two_threads);
  EXPECT_THAT(totals_text(flow, totals_of(flow), {}, *results),
              HasSubstr(" Budget\n\n"
                        " ok    method p/A.f()V: calls 6 of at most 6 calls\n"
                        " OVER  class p/A: base/call 75.13333333 of at most 70.5 cycles\n"
                        " ok    package p: cum 1127 of at most 1127 cycles\n"
                        " ok    method a::f(int, char): base 0 of at most 0 cycles; the call flow "
                        "has none of this name\n"
                        " OVER  class [none]: base 10 of at most 9 cycles\n"));
}

TEST(LogRt, WrongLimitsAreRefusedWithTheirLine) {
  const auto message = [](const std::string& text) {
    const auto limits = parse_budget(text, "limits");
    return limits ? "" : limits.error().message;
  };
  EXPECT_THAT(message(""), HasSubstr("there is no limit"));
  EXPECT_THAT(message("\nmodule x base 1"), HasSubstr("limits:2: 'module' is neither"));
  EXPECT_THAT(message("method x ticks 1"), HasSubstr("'ticks' is none of calls, base"));
  EXPECT_THAT(message("method x base -1"), HasSubstr("'-1' is no number"));
  EXPECT_THAT(message("method x base nan"), HasSubstr("'nan' is no number"));
  EXPECT_THAT(message("method x base inf"), HasSubstr("'inf' is no number"));
  EXPECT_THAT(message("method"), HasSubstr("a limit is written as"));
  EXPECT_THAT(message("base 1"), HasSubstr("a limit is written as"));
}

TEST(LogRt, ReportsNameLossesAndOmittedRows) {
  const CallFlow flow = flow_of(file({{node(0, "", 1, 1), node(1, "f", 1, 1)}}, "3"));
  EXPECT_EQ(flow.lost, "3 nodes");
  ReportOptions options;
  options.lines = 1;
  const std::string text = totals_text(flow, totals_of(flow), options, {});
  EXPECT_THAT(text, HasSubstr("Lost           : 3 nodes\n"));
  EXPECT_THAT(text, HasSubstr("1 further rows; --lines 0 prints all."));
}

}  // namespace
}  // namespace logrt
