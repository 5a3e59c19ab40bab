// SPDX-License-Identifier: MIT
// Call trees from branch traces, also where calls and returns do not match.
#include <arc/arc_calls.h>
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <random>
#include <sstream>
#include <string>

#include "arc_line.h"
#include "report.h"

namespace {

using arcf::folded_text;
using arcf::json_text;
using arcf::tree_text;
using post::ArcCalls;

// Parses lines "U call main+0 3" (ring, last instruction, function + hexadecimal offset,
// instructions), "vector N", "vector-end N" and "gap N".
void feed(ArcCalls& flow, const std::string& text) {
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string ring, last, function;
    if (!(words >> ring >> last)) continue;
    std::string arc;
    if (ring == "vector" || ring == "vector-end")
      arc =
          fmt::format("0 K {} 0 @ 0 Int_0x{}:VECTOR 1_1_t -vec- 0", ring == "vector" ? 0 : 4, last);
    else if (ring == "gap")
      arc = fmt::format("0 K 5 {} @ 0 Gap_x:GAP 1_1_t -gap- 0 ns=1", last);
    uint64_t count = 1;
    if (arc.empty()) {
      words >> function >> count;
      const size_t plus = function.find('+');
      const int digit = last == "call"    ? 1
                        : last == "ret"   ? 2
                        : last == "jump"  ? 3
                        : last == "iret"  ? 4
                        : last == "undef" ? 6
                        : last == "other" ? 5
                                          : 0;
      arc = fmt::format("0 {} {} {} @ {} {}:m 1_1_t X 0", ring, digit, count,
                        function.substr(plus + 1), function.substr(0, plus));
    }
    post::ArcLine parsed;
    ASSERT_EQ(arcf::parse_line(arc, parsed), arcf::Parsed::line) << arc;
    flow.add(parsed);
  }
}

// Returns the tree as lines "calls self function", indented by one point for each level.
std::string tree(const std::string& text) {
  ArcCalls flow;
  feed(flow, text);
  std::istringstream lines(tree_text(flow, {"arc"}, 0));
  std::string out;
  bool rows = false;
  for (std::string line; std::getline(lines, line);) {
    if (line.find("FUNCTION") != std::string::npos)
      rows = true;
    else if (rows && line.size() > 48) {
      const std::string name = line.substr(46);
      const size_t depth = name.find_first_not_of(' ');
      std::istringstream figures(line);
      std::string calls, self;
      figures >> calls >> self;
      out += std::string(depth, '.') + calls + " " + self + " " + name.substr(depth) + "\n";
    }
  }
  return out;
}

TEST(ArcCalls, CallsAndReturnsMatch) {
  EXPECT_EQ(tree("U call main+0 1\nU call a+0 2\nU ret b+0 4\nU ret a+8 8\nU jump main+5 16\n"
                 "U call main+7 32\nU ret b+0 64\nU other main+9 128\n"),
            "0 177 main:m  (entered before the trace)\n.1 64 b:m\n.1 10 a:m\n..1 4 b:m\n");
}

TEST(ArcCalls, RecursionAddsTreeLevels) {
  EXPECT_EQ(tree("U call f+0 1\nU call f+0 1\nU ret f+0 1\nU ret f+4 1\nU other f+4 1\n"),
            "0 2 f:m  (entered before the trace)\n.1 2 f:m\n..1 1 f:m\n");
}

TEST(ArcCalls, ReturnToACallerFromBeforeTheTraceAddsANewRoot) {
  EXPECT_EQ(
      tree("U call inner+4 1\nU ret leaf+0 2\nU ret inner+8 4\nU ret outer+20 8\nU other "
           "outermost+30 16\n"),
      "0 16 outermost:m  (entered before the trace)\n0 8 outer:m  (entered before the trace)\n"
      "0 5 inner:m  (entered before the trace)\n.1 2 leaf:m\n");
}

TEST(ArcCalls, TailCallReplacesTheJumpingFunction) {
  EXPECT_EQ(tree("U call main+0 1\nU jump a+0 2\nU ret b+0 4\nU other main+5 8\n"),
            "0 9 main:m  (entered before the trace)\n.1 4 b:m\n.1 2 a:m\n");
}

TEST(ArcCalls, AColdPartCountsForItsFunction) {
  EXPECT_EQ(
      tree("U call main+0 1\nU jump a+0 2\nU jump a.cold+0 4\nU ret a+9 8\nU other main+5 8\n"),
      "0 9 main:m  (entered before the trace)\n.1 14 a:m\n");
}

TEST(ArcCalls, LongJumpUnwindsIntermediateFunctions) {
  EXPECT_EQ(
      tree("U call main+0 1\nU call a+0 2\nU call b+0 4\nU jump longjmp+0 8\nU call main+44 16\n"
           "U ret c+0 32\nU other main+50 64\n"),
      "0 81 main:m  (entered before the trace)\n.1 32 c:m\n.1 2 a:m\n..1 4 b:m\n"
      "...1 8 longjmp:m\n");
}

TEST(ArcCalls, SystemCallIsACallIntoTheKernel) {
  EXPECT_EQ(tree("U call main+0 1\nU int read+0 2\nK call entry+0 4\nK ret sys_read+0 8\n"
                 "K iret entry_tail+8 16\nU ret read+7 32\nU other main+5 64\n"),
            "0 65 main:m  (entered before the trace)\n.1 34 read:m\n..0 16 entry_tail:m\n"
            "..1 4 entry:m\n...1 8 sys_read:m\n");
}

TEST(ArcCalls, IretReturnsFromAnExceptionAndItsHandlers) {
  EXPECT_EQ(tree("U call main+0 1\nU int a+0 2\nvector 0e\ngap 0\nK call asm_fault+0 4\n"
                 "K iret fault+0 8\nU ret a+3 16\nU other main+5 32\n"),
            "0 33 main:m  (entered before the trace)\n.1 18 a:m\n..1 0 Int_0x0e:VECTOR\n"
            "...1 4 asm_fault:m\n....1 8 fault:m\n...1 0 Gap_x:GAP\n");
}

TEST(ArcCalls, KernelInterruptReturnsToTheInterruptedFunction) {
  EXPECT_EQ(tree("K call entry+0 1\nK int sys+0 2\nvector 30\nK call asm_irq+0 4\nK iret irq+0 8\n"
                 "vector-end 30\nK ret sys+9 16\nK iret entry+9 32\n"),
            "0 33 entry:m  (entered before the trace)\n.1 18 sys:m\n..1 0 Int_0x30:VECTOR\n"
            "...1 4 asm_irq:m\n....1 8 irq:m\n");
}

TEST(ArcCalls, SignalHandlerReturnsThroughSigreturn) {
  EXPECT_EQ(tree("U call main+0 1\nU int a+0 2\nK iret signal+0 4\nU ret handler+0 8\nU int "
                 "restore+0 16\nK iret sigreturn+0 32\nU ret a+5 64\nU other main+5 128\n"),
            "0 129 main:m  (entered before the trace)\n.1 66 a:m\n..0 16 restore:m\n"
            "...1 32 sigreturn:m\n..1 8 handler:m\n..1 4 signal:m\n");
}

TEST(ArcCalls, FlowContinuesAtTheCurrentFunctionAfterAGap) {
  EXPECT_EQ(tree("U call main+0 1\nU jump a+0 2\ngap 50\nU ret deep+40 4\nU other a+9 8\ngap 7\n"
                 "U other main+9 16\n"),
            "0 17 main:m  (entered before the trace)\n.1 10 a:m\n..2 57 Gap_x:GAP\n..0 4 deep:m\n");
}

TEST(ArcCalls, ExecStartsANewRoot) {
  EXPECT_EQ(
      tree("U int main+0 1\nK iret execve+0 2\nU call _start+0 4\nU ret boot+0 8\n"
           "U other _start+8 16\n"),
      "0 20 _start:m  (entered before the trace)\n.1 8 boot:m\n0 1 main:m  (entered before the "
      "trace)\n.1 2 execve:m\n");
}

TEST(ArcCalls, EachThreadHasItsOwnTree) {
  ArcCalls flow;
  for (const char* text :
       {"0 U 1 2 @ 0 a:m 1_1_t CALL 0", "0 K 5 0 ? 1 callflow:disp 1_2_t OTHER 0",
        "0 U 2 3 @ 0 a:m 1_2_t RETURN 0", "0 U 2 5 @ 0 b:m 1_1_t RETURN 0"}) {
    post::ArcLine line;
    ASSERT_EQ(arcf::parse_line(text, line), arcf::Parsed::line);
    flow.add(line);
  }
  EXPECT_EQ(folded_text(flow, {"arc"}), "1_1_t;a:m 2\n1_1_t;a:m;b:m 5\n1_2_t;a:m 3\n");
}

TEST(ArcCalls, CallDepthIsLimited) {
  ArcCalls flow;
  std::string text;
  for (int i = 0; i < 5000; ++i) text += "U call f+0 1\n";
  for (int i = 0; i < 5000; ++i) text += "U ret f+4 1\n";
  feed(flow, text);
  EXPECT_LE(flow.nodes().size(), 4100u);
  EXPECT_GT(flow.threads()[0].deep, 800u);
  uint64_t sum = 0;
  for (const ArcCalls::Node& node : flow.nodes()) sum += node.self;
  EXPECT_EQ(sum, 10000u);
  EXPECT_NE(tree_text(flow, {"arc"}, 0).find("too deep"), std::string::npos);
  EXPECT_NE(json_text(flow, {"arc"}).find("\"too_deep\": "), std::string::npos);
}

// Any sequence keeps each instruction exactly once.
TEST(ArcCalls, InconsistentFlowsKeepAllInstructions) {
  std::mt19937 random(7);
  const char* const kinds[] = {"call", "ret", "jump", "iret", "int", "other", "undef"};
  for (int round = 0; round < 200; ++round) {
    ArcCalls flow;
    std::string text;
    uint64_t expected = 0;
    for (int i = 0; i < 200; ++i) {
      const uint32_t kind = static_cast<uint32_t>(random() % 10);
      if (kind == 7) text += "vector 0e\n";
      if (kind == 8) text += "vector-end 0e\n";
      if (kind == 9) text += "gap 3\n";
      expected += kind == 9 ? 3 : kind < 7 ? 1 : 0;
      if (kind >= 7) continue;
      text += fmt::format("{} {} f{}+{} 1\n", random() % 3 == 0 ? "K" : "U", kinds[kind],
                          random() % 6, random() % 2 * 8);
    }
    feed(flow, text);
    uint64_t sum = 0;
    for (const ArcCalls::Node& node : flow.nodes()) sum += node.self;
    ASSERT_EQ(sum, expected) << text;
  }
}

// Deep calls with long names, whose innermost function calls again and again.
TEST(ArcCalls, FoldedStacksHaveALimitInProportionToTheArc) {
  std::string text;
  const std::string name(900, 'x');
  for (int i = 0; i < 300; ++i) text += fmt::format("U call f{}{}+0 1\n", i, name);
  for (int i = 0; i < 1000; ++i) text += fmt::format("U ret g{}+0 2\nU call f299{}+5 1\n", i, name);
  ArcCalls flow;
  feed(flow, text);
  const arcf::Source source{.file = "arc", .bytes = text.size()};
  EXPECT_THROW(folded_text(flow, source), arcf::TooLarge);
  EXPECT_LT(tree_text(flow, source, 0).size(), 4 * text.size());
}

}  // namespace
