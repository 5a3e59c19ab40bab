// SPDX-License-Identifier: MIT
// The call flow in the data of the HTML page is the tree that arcf makes of the arc.
#include "report/html_flow.h"

#include <arc_line.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <report.h>

#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <random>
#include <sstream>

#include "post_run.h"

namespace {

using namespace test_support;
using Json = nlohmann::json;

constexpr const char* hostile = "</script><img src=x onerror=alert(1)>";

// Calls, returns, jumps and system calls of two threads between functions of 16 bytes.
Bytes random_flow(unsigned seed, int branches) {
  std::mt19937 random(seed);
  RecordBuilder mte, cpu;
  mte.name(1, 0x20, hostile).module(1, {0x20, 0, 0x400000, 0x1000, 0, 0}, "/bin/app");
  uint64_t time = 10;
  for (int i = 0; i < branches; ++i) {
    if (i % 50 == 0) cpu.itrace_thread(++time, 0x20, i % 100 == 0 ? 0x20 : 0x21);
    const auto address = [&] { return 0x400000 + 4 * (random() % 64); };
    if (random() % 20 == 0)
      cpu.itrace_gap(++time, PITRACE_GAP_UNTRACED, static_cast<uint32_t>(random() % 30), 5, 7,
                     address());
    else
      cpu.branch(++time, true, address(), address(), true, static_cast<uint32_t>(1 + random() % 9));
  }
  TraceBuilder trace;
  trace.section(pi::nrm2::section_mte, {}, mte.bytes());
  trace.section(pi::nrm2::section_trace, {}, cpu.bytes());
  return trace.bytes();
}

FakeSymbolizer flow_symbols() {
  FakeSymbolizer symbolizer;
  for (uint64_t at = 0; at < 0x100; at += 0x10)
    symbolizer.add_symbol("/bin/app", at, 0x10, at == 0x40 ? hostile : fmt::format("f{:x}", at));
  // call *rax, ret, jmp *rax and a nop, in each function.
  std::vector<std::byte> code;
  for (int i = 0; i < 16; ++i)
    for (const int byte : {0xff, 0xd0, 0x90, 0x90, 0xc3, 0x90, 0x90, 0x90, 0xff, 0xe0, 0x90, 0x90,
                           0x90, 0x90, 0x90, 0x90})
      code.push_back(static_cast<std::byte>(byte));
  symbolizer.add_code("/bin/app", 0, code);
  return symbolizer;
}

PostRun run_flow(const Bytes& trace) {
  FakeSymbolizer symbolizer = flow_symbols();
  post::Options options;
  options.html = "tprof.html";
  options.arc = true;
  return run_post(trace, symbolizer, options);
}

// Lines "level name calls self with-calls", in the order of the first call.
std::string page_lines(const Json& html) {
  std::string text;
  const Json& flow = html["flow"];
  for (size_t row = 0; row < flow["level"].size(); ++row)
    text += fmt::format("{} {} {} {} {}\n", flow["level"][row].get<int>(),
                        html["names"][flow["name"][row].get<size_t>()].get<std::string>(),
                        flow["cells"][0][row].get<double>(), flow["cells"][1][row].get<double>(),
                        flow["cells"][3][row].get<double>());
  return text;
}

std::string arcf_lines(const std::string& arc) {
  post::ArcCalls calls;
  std::istringstream in(arc);
  for (std::string text; std::getline(in, text);) {
    post::ArcLine line;
    if (arcf::parse_line(text, line) == arcf::Parsed::line) calls.add(line);
  }
  const Json json = Json::parse(arcf::json_text(calls, {"arc"}));
  std::string text;
  for (const Json& thread : json["threads"]) {
    // By the order in which they were entered, which arcf does not print.
    std::map<uint64_t, std::map<uint64_t, Json>> below;
    double sum = 0;
    for (const Json& node : thread["nodes"]) {
      sum += node["self"].get<double>();
      below[node.value("parent", uint64_t{0})][node["id"].get<uint64_t>()] = node;
    }
    text += fmt::format("0 {} 0 0 {}\n", thread["name"].get<std::string>(), sum);
    const std::function<void(uint64_t, int)> add = [&](uint64_t parent, int level) {
      for (const auto& [id, node] : below[parent]) {
        text += fmt::format("{} {}{} {} {} {}\n", level, node["function"].get<std::string>(),
                            node.contains("entered_before") ? "  (entered before the trace)" : "",
                            node["calls"].get<double>(), node["self"].get<double>(),
                            node["cumulative"].get<double>());
        add(id, level + 1);
      }
    };
    add(0, 1);
  }
  return text;
}

TEST(HtmlFlow, IsTheTreeOfArcf) {
  for (unsigned seed = 0; seed < 4; ++seed) {
    const PostRun made = run_flow(random_flow(seed, 400));
    ASSERT_TRUE(made.error.empty()) << made.error;
    const std::string expected = arcf_lines(made.arc);
    EXPECT_GT(std::ranges::count(expected, '\n'), 50);
    EXPECT_NE(expected.find(hostile), std::string::npos);
    EXPECT_EQ(page_lines(Json::parse(made.html)), expected);
  }
}

TEST(HtmlFlow, HasTheSharesOfEachThreadAndWhatIsMissing) {
  const Json flow = Json::parse(run_flow(random_flow(7, 400)).html)["flow"];
  EXPECT_EQ(flow["columns"], Json({"calls", "instructions", "% of thread", "with calls"}));
  EXPECT_EQ(flow["order"], "first call");
  double whole = 0;
  for (size_t row = 0; row < flow["level"].size(); ++row) {
    const double sum = flow["cells"][3][row];
    if (flow["level"][row] == 0) whole = sum;
    EXPECT_NEAR(flow["cells"][2][row].get<double>(), 100 * sum / whole, 0.0051);
  }
  std::string leads;
  for (const Json& fact : flow["facts"]) leads += fact[0].get<std::string>() + ";";
  EXPECT_EQ(leads.substr(0, 26), "Instructions;Not followed;");
}

TEST(HtmlFlow, ATraceWithoutInstructionsHasNone) {
  RecordBuilder cpu;
  cpu.itrace_thread(10, 7, 8);
  TraceBuilder trace;
  trace.section(pi::nrm2::section_trace, {}, cpu.bytes());
  FakeSymbolizer symbolizer;
  post::Options options;
  options.html = "tprof.html";
  EXPECT_TRUE(Json::parse(run_post(trace.bytes(), symbolizer, options).html)["flow"].is_null());
}

TEST(HtmlFlow, RowsBeyondTheLimitAreJoinedAndNoInstructionIsLost) {
  const PostRun made = run_flow(random_flow(3, 3000));
  const Json flow = Json::parse(made.html)["flow"];
  post::HtmlTable table;
  table.columns = {"calls", "instructions", "% of thread", "with calls"};
  table.with_below = 2;
  double all = 0;
  for (size_t row = 0; row < flow["level"].size(); ++row) {
    table.rows.push_back({flow["level"][row].get<uint32_t>(), "f", {}});
    for (int column = 0; column < 4; ++column)
      table.rows.back().cells.push_back(flow["cells"][column][row]);
    all += flow["cells"][1][row].get<double>();
  }
  const size_t before = table.rows.size();
  post::limit_table(table, before / 4);
  EXPECT_LT(table.rows.size(), before * 3 / 4);
  double kept = 0;
  for (const auto& row : table.rows) kept += row.cells[1];
  EXPECT_EQ(kept, all);
  EXPECT_EQ(table.facts.back().lead, "Left out");
}

}  // namespace
