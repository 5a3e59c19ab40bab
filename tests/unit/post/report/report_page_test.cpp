// SPDX-License-Identifier: MIT
// The page at any width and for any trace; the golden cases have its layout.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <report/path_rows.h>
#include <text/columns.h>

#include <numeric>
#include <sstream>

#include "post_run.h"
#include "text_trace.h"

namespace {

using namespace test_support;

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

// A process with so many functions, the first of which has one tick, the next two and so on; as
// many ticks of an idle processor as those of the process.
struct Program {
  explicit Program(unsigned functions) {
    std::string text =
        "cpus 1\ninfo pid=32\ninfo scope=system\ninfo tick_ns=1000000\nsection mte 0\n"
        "1 name 0x20 program\n1 module 0x20 0x1000 0x100000 0 /bin/program\nsection trace 0\n";
    uint64_t time = 1000;
    for (unsigned i = 0; i < functions; ++i) {
      symbolizer.add_symbol("/bin/program", i * 16, 16, "function_" + std::to_string(i));
      for (unsigned tick = 0; tick <= i; ++tick) {
        text += fmt::format("{} tick user 0x20 0x20 {}\n", time + 1, 0x1000 + i * 16);
        text += fmt::format("{} tick kernel 0 0 0xffffffff81000000\n", time + 2);
        time += 2;
      }
    }
    trace = text;
  }
  std::string page(const post::PageLook& look, bool with_end = true) {
    const post::PageEnd end{"out/swtrace.nrm2", {"out/tprof.out", "out/tprof.json"}, "out"};
    const auto bytes = trace_from_text(trace);
    EXPECT_TRUE(bytes) << bytes.error().message;
    return run_post(*bytes, symbolizer, {}, {}, {look}, with_end ? &end : nullptr).pages.front();
  }
  FakeSymbolizer symbolizer;
  std::string trace;
};

TEST(Page, FitsAScreenOf24LinesAndItsWidth) {
  for (const unsigned functions : {1u, 5u, 17u, 60u})
    for (const size_t width : {40u, 79u, 80u, 200u}) {
      const auto lines = lines_of(Program(functions).page({.width = width}));
      EXPECT_LE(lines.size(), 23u) << functions << " functions, width " << width;
      // The command that can be copied has one line, however narrow the terminal.
      for (const std::string& line : lines)
        if (!line.ends_with(" -disasm")) {
          EXPECT_LE(post::columns_of(line), width) << line;
        }
      if (functions == 60 && width == 80) {
        EXPECT_EQ(lines.size(), 23u);
      }
    }
}

TEST(Page, InAReportItHasTheSameFunctions) {
  Program program(60);
  const std::string printed = program.page({});
  const std::string report = program.page({}, false);
  EXPECT_TRUE(printed.starts_with(report));
  EXPECT_GT(printed.size(), report.size());
}

// 60 functions have 1830 ticks; each share is rounded by itself.
TEST(Page, SharesOfTheFunctionsAndTheOthersAreAll) {
  double sum = 0;
  size_t rows = 0;
  for (const std::string& line : lines_of(Program(60).page({.rows = 7}))) {
    if (line.find(" %  ") == std::string::npos) continue;
    sum += std::stod(line);
    ++rows;
  }
  EXPECT_EQ(rows, 8u);
  EXPECT_NEAR(sum, 100, 0.05 * 8);
}

TEST(Page, LinesSetsTheNumberOfFunctions) {
  const std::string page = Program(30).page({.rows = 25});
  EXPECT_NE(page.find("function_29"), std::string::npos);
  EXPECT_NE(page.find("function_5 "), std::string::npos);
  EXPECT_EQ(page.find("function_4 "), std::string::npos);
  EXPECT_NE(page.find("in 5 other functions"), std::string::npos);
  EXPECT_EQ(Program(3).page({.rows = 25}).find("other function"), std::string::npos);
}

TEST(Page, AShareIsNeitherNothingNorAllUnlessItIs) {
  Program program(1);
  for (int i = 0; i < 2500; ++i)
    program.trace += std::to_string(5000 + i) + " tick user 0x20 0x20 0x9000000\n";
  const std::string page = program.page({.rows = 2});
  EXPECT_NE(page.find(" >99.9 %  NoSymbols"), std::string::npos) << page;
  EXPECT_NE(page.find("  <0.1 %  function_0"), std::string::npos) << page;
  EXPECT_NE(Program(1).page({}).find(" 100.0 %  function_0"), std::string::npos);
}

TEST(Page, ColoursAreOnlyWhatWasAskedFor) {
  EXPECT_EQ(Program(5).page({}).find('\033'), std::string::npos);
  EXPECT_NE(Program(5).page({.colour = true}).find("\033[1;31m"), std::string::npos);
}

TEST(Page, ADirectoryWithABlankIsOneWordOfTheCommand) {
  FakeSymbolizer symbolizer;
  const auto bytes = trace_from_text(Program(1).trace);
  ASSERT_TRUE(bytes);
  const post::PageEnd end{"my dir/it's.nrm2", {"my dir/tprof.out"}, "my dir"};
  const std::string page =
      run_post(*bytes, symbolizer, {}, {}, {{.width = 200}}, &end).pages.front();
  EXPECT_NE(page.find("post -r 'my dir/it'\\''s.nrm2' -o 'my dir' -disasm"), std::string::npos)
      << page;
}

TEST(Page, ADamagedFamilyOfProcessesEnds) {
  Program program(1);
  program.trace +=
      "section mte 0\n1 existing 0x20 0x21\n1 existing 0x21 0x20\n1 existing 0x22 0x22\n";
  EXPECT_NE(program.page({}).find("program:32 and 1 descendant:"), std::string::npos);
}

TEST(PathNames, AreWithoutArguments) {
  using post::without_arguments;
  EXPECT_EQ(without_arguments("main"), "main");
  EXPECT_EQ(without_arguments("ns::f<int (*)(char)>(int, char) const"), "ns::f<int (*)(char)>");
  EXPECT_EQ(without_arguments("(anonymous namespace)::f(int)"), "(anonymous namespace)::f");
  EXPECT_EQ(without_arguments("A::operator()(int) const"), "A::operator()");
  EXPECT_EQ(without_arguments("A::operator<(A const&)"), "A::operator<");
}

}  // namespace
