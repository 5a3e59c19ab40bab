// SPDX-License-Identifier: MIT
// Annotated source at any width, with a fake symbolizer; tests/cli/annotate.bats uses whole
// programs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <text/columns.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "post_run.h"
#include "text_trace.h"

namespace {

using namespace test_support;
using testing::HasSubstr;
using testing::Not;

// The fake symbolizer has line N of source.c for each 16 bytes of a function.
class AnnotationTest : public testing::Test {
 protected:
  AnnotationTest() : root(testing::TempDir() + "annotation_XXXXXX") {
    EXPECT_NE(::mkdtemp(root.data()), nullptr);
    std::ofstream source(root + "/source.c");
    for (int i = 1; i <= 40; ++i)
      source << "\tline " << i << (i == 2 ? " \033[31m\xff" : "") << std::string(100, '-') << "\n";
    symbolizer.add_symbol("/bin/app", 0, 0x200, "_Z4workiPKc");
    symbolizer.add_symbol("/bin/app", 0x200, 0x10, "rest");
    symbolizer.add_jitted({0x20, 0, 1000, 0x7000, 0x100, "demo.Outer$In.run()V", "", 0});
  }
  ~AnnotationTest() override { std::filesystem::remove_all(root); }

  std::string annotation(const std::string& name, const post::AnnotationStyle& style = {},
                         const std::string& more = "500 tick user 0x20 0x20 0x7010\n") {
    post::Options options;
    options.report.annotate = name;
    options.report.source_path = {root};
    const auto bytes = trace_from_text(
        std::string(
            "cpus 1\nsection mte 0\n10 name 0x20 app\n10 module 0x20 0x400000 0x1000 0 /bin/app\n"
            "section trace 0\n100 tick user 0x20 0x20 0x400011\n200 tick user 0x20 0x20 0x400012\n"
            "300 tick user 0x20 0x20 0x400180\n400 tick user 0x20 0x20 0x400208\n") +
        more);
    EXPECT_TRUE(bytes) << bytes.error().message;
    return run_post(*bytes, symbolizer, options, {}, {}, nullptr, style).annotation;
  }
  FakeSymbolizer symbolizer;
  std::string root;
};

TEST_F(AnnotationTest, LinesOnATerminalHaveItsWidthAtMost) {
  for (const size_t width : {40u, 80u}) {
    std::istringstream lines(annotation("work*", {.width = width, .line_width = width}));
    size_t full = 0;
    for (std::string line; std::getline(lines, line);) {
      EXPECT_LE(post::columns_of(line), width) << line;
      full += post::columns_of(line) == width ? 1 : 0;
    }
    EXPECT_GT(full, 3u);
  }
  EXPECT_THAT(annotation("work*"), HasSubstr("line 25" + std::string(100, '-')));
}

TEST_F(AnnotationTest, LinesHaveTheirTicksAndThreeLinesAround) {
  const std::string text = annotation("work");
  EXPECT_THAT(
      text,
      HasSubstr("work(int, char const*) in /bin/app: 3 ticks, 60.0 % of all processors' ticks"));
  EXPECT_THAT(text, HasSubstr("    2  66.7 %    2          line 2"));
  EXPECT_THAT(text, HasSubstr("    1  33.3 %   25          line 25"));
  EXPECT_THAT(text, HasSubstr("                 5          line 5"));
  EXPECT_THAT(text, Not(HasSubstr("line 6-")));
  EXPECT_THAT(text, HasSubstr("               ...\n"));
  EXPECT_THAT(text, HasSubstr("                28          line 28"));
  EXPECT_THAT(text, Not(HasSubstr("line 29-")));
  EXPECT_THAT(text, HasSubstr("    1  33.3 %  +11  nop\n"));
  EXPECT_THAT(text, Not(HasSubstr("... ")));
}

TEST_F(AnnotationTest, AFunctionIsFoundByItsDemangledMangledOrShortName) {
  const std::string text = annotation("work");
  EXPECT_EQ(annotation("_Z4workiPKc"), text);
  EXPECT_EQ(annotation("work(int, char const\\*)"), text);
  EXPECT_EQ(annotation("w?rk*"), text);
}

TEST_F(AnnotationTest, ALongNameIsShortenedInTheHead) {
  std::string name = "leaf<";
  for (int i = 0; i < 40; ++i) name += "std::vector<int>, ";
  symbolizer.add_symbol("/bin/app", 0x300, 0x10, name + "int>");
  const std::string text = annotation("leaf*", {}, "500 tick user 0x20 0x20 0x400300\n");
  EXPECT_THAT(text, HasSubstr("leaf<..> in /bin/app: 1 tick, "));
}

// The last function of the trace has instructions with ticks that are not adjacent.
TEST_F(AnnotationTest, InstructionsThatAreLeftOutHaveAMark) {
  symbolizer.add_symbol("/bin/app", 0x400, 0x10, "far");
  const std::string text =
      annotation("far", {}, "500 tick user 0x20 0x20 0x400400\n600 tick user 0x20 0x20 0x40040a\n");
  EXPECT_THAT(text, HasSubstr("+2  nop\n               ...\n"));
  EXPECT_THAT(text, HasSubstr("+8  nop\n"));
}

TEST_F(AnnotationTest, ControlCharactersOfASourceFileAreShown) {
  EXPECT_THAT(annotation("work"), HasSubstr("line 2 \\x1b[31m\\xff-"));
  EXPECT_THAT(annotation("work"), Not(HasSubstr("\033")));
  EXPECT_THAT(annotation("work", {.colour = true}), Not(HasSubstr("\033[31m")));
  EXPECT_THAT(annotation("work", {.colour = true}), HasSubstr("\033[1;31m"));
}

TEST_F(AnnotationTest, AMethodWithoutLinesHasItsTicksByOffset) {
  const std::string text = annotation("demo*");
  EXPECT_THAT(text, HasSubstr("The runtime has written no line numbers of this code."));
  EXPECT_THAT(text, HasSubstr("    1 100.0 %  +10\n"));
}

TEST_F(AnnotationTest, AMethodWithLinesHasTheFileOfItsClass) {
  symbolizer.jitted_line = 3;
  EXPECT_THAT(annotation("demo*"),
              HasSubstr("demo/Outer.java: Neither this path nor an end of it is in"));
  std::filesystem::create_directory(root + "/demo");
  std::ofstream(root + "/demo/Outer.java") << "class\n{\n  void run()\n";
  EXPECT_THAT(annotation("demo*"), HasSubstr("    1 100.0 %    3    void run()"));
}

TEST_F(AnnotationTest, ANameThatMatchesNothingIsAnError) {
  EXPECT_EQ(annotation("rust"),
            "--annotate rust matches nothing that ticks fell on; similar: rest.");
}

}  // namespace
