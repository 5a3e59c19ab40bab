// SPDX-License-Identifier: MIT
// The text of a hint for each kind of program, and programs without a hint.
#include "report/hints.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <set>
#include <string>
#include <vector>

#include "fake_symbolizer.h"
#include "../top/counted_trace.h"

namespace {

using namespace post;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;

class Hints : public testing::Test {
 protected:
  void add(const char* process, const char* module, Found found, uint64_t ticks) {
    const NameId symbol = names_.intern("s" + std::to_string(tree_.leaves().size()));
    tree_.add_ticks(
        tree_.place({names_.intern(process), names_.intern("t"), names_.intern(module), symbol, 0},
                    found),
        ticks);
  }
  std::vector<Hint> hints(const std::set<std::string>& own = {}) {
    return make_hints(
        tree_, names_, {}, notes_,
        [this](const std::vector<std::string>& paths) {
          asked_ = paths;
          return packages_;
        },
        own);
  }
  std::string only_text() {
    const auto all = hints();
    EXPECT_THAT(all, SizeIs(1));
    return all.empty() ? "" : all.front().text;
  }

  SampleTree tree_;
  StringTable names_;
  std::vector<std::string> notes_;
  Packages packages_;
  std::vector<std::string> asked_;
};

TEST_F(Hints, AreForMoreThanFivePercentOfAProgramsTicks) {
  add("a_0012", "/bin/a", Found::symbol, 95);
  add("a_0012", "/bin/a", Found::no_symbol, 5);
  EXPECT_THAT(hints(), IsEmpty());
  EXPECT_THAT(asked_, IsEmpty());
  add("a_0013", "/bin/a", Found::no_symbol, 1);  // another process of that name
  const auto all = hints();
  ASSERT_THAT(all, SizeIs(1));
  EXPECT_EQ(all[0].program, "a");
  EXPECT_EQ(all[0].ticks, 101u);
  EXPECT_EQ(all[0].unnamed, 6u);
  EXPECT_THAT(all[0].text, HasSubstr("6 % of the ticks of a have no name. /bin/a lacks"));
}

TEST_F(Hints, AreNotForAFewTicks) {
  add("a_0012", "/bin/a", Found::no_symbol, 4);
  EXPECT_THAT(hints(), IsEmpty());
}

TEST_F(Hints, OfAKernelWithoutSymbolsSayWhereTheReasonIs) {
  add("a_0012", "vmlinux", Found::no_symbol, 50);
  EXPECT_THAT(only_text(), HasSubstr("100 % of the ticks of a have no name. The trace lacks "
                                     "symbols of the kernel: 'swtrace check'"));
}

TEST_F(Hints, AreNotForModulesOfTheKernel) {
  add("a_0012", "ext4", Found::no_symbol, 50);
  EXPECT_THAT(hints(), IsEmpty());
}

TEST_F(Hints, AreForTheProgramsWithMostSuchTicksFirst) {
  for (int i = 0; i < 15; ++i)
    add(("p" + std::to_string(10 + i) + "_0001").c_str(), "/bin/p", Found::function,
        static_cast<uint64_t>(100 + i));
  const auto all = hints();
  ASSERT_THAT(all, SizeIs(5));
  EXPECT_EQ(all.front().program, "p24");
  EXPECT_EQ(all.back().program, "p20");
}

TEST_F(Hints, ThereIsNoneOnAProcessWhoseNameWasLost) {
  add("(no name)_0012", "", Found::no_module, 50);
  EXPECT_THAT(hints(), SizeIs(0));
}

TEST_F(Hints, NameTheDebugPackagesOfStrippedFiles) {
  add("cc1_0012", "/usr/lib/gcc/cc1", Found::function, 60);
  add("cc1_0012", "/usr/lib/x86_64-linux-gnu/libc.so.6", Found::no_symbol, 40);
  packages_ = {{"/usr/lib/gcc/cc1", "cpp-12"}, {"/usr/lib/x86_64-linux-gnu/libc.so.6", "libc6"}};
  const std::string text = only_text();
  EXPECT_THAT(text,
              HasSubstr("/usr/lib/gcc/cc1, /usr/lib/x86_64-linux-gnu/libc.so.6 lack symbols: "));
  EXPECT_THAT(
      text, HasSubstr("install cpp-12-dbgsym, libc6-dbg (-dbgsym packages: from the distribution's "
                      "archive of debug symbols), or set DEBUGINFOD_URLS"));
  EXPECT_EQ(hints().front().brief,
            "100 % of cc1 has no name: install cpp-12-dbgsym, libc6-dbg (see tprof.out).");
  EXPECT_THAT(asked_, ElementsAre("/usr/lib/gcc/cc1", "/usr/lib/x86_64-linux-gnu/libc.so.6"));
  packages_ = {{"/usr/lib/gcc/cc1", "libpython3.11-minimal"}};
  EXPECT_THAT(only_text(), HasSubstr("install python3.11-dbg, or"));
}

TEST_F(Hints, NameOtherSourcesForAFileWithoutAPackage) {
  add("app_0012", "/opt/app", Found::no_symbol, 40);
  EXPECT_THAT(only_text(), HasSubstr("/opt/app lacks symbols: name the directory"));
  EXPECT_EQ(hints().front().brief, "100 % of app has no name: app lacks symbols (see tprof.out).");
}

TEST_F(Hints, ReferToTheNoteAboutAFile) {
  add("app_0012", "/opt/app", Found::no_symbol, 30);
  add("app_0012", "/memfd:x (deleted)", Found::no_symbol, 40);
  notes_ = {"/opt/app: it changed while it was traced; symbols not used",
            "/memfd:x (deleted): a file in memory; symbols not used"};
  EXPECT_THAT(only_text(),
              HasSubstr("The line \"Symbols\" about /memfd:x (deleted) has the reason;"));
  EXPECT_EQ(hints().front().brief,
            "100 % of app has no name: no symbols of memfd:x (deleted) (see tprof.out).");
  EXPECT_THAT(asked_, IsEmpty());
}

// A traced command of whose ticks few have no name, beside the compilers of a busy machine.
TEST_F(Hints, AreAboutTheTracedProgramsFirst) {
  const auto programs = [](const std::vector<Hint>& all) {
    std::vector<std::string> names;
    for (const Hint& hint : all) names.push_back(hint.program);
    return names;
  };
  for (const char* process : {"a_0001", "b_0002", "c_0003", "d_0004", "e_0005", "f_0006"})
    add(process, "/bin/compiler", Found::no_symbol, 1000);
  add("mine_0007", "/bin/mine", Found::no_symbol, 50);
  EXPECT_THAT(programs(hints()), ElementsAre("a", "b", "c", "d", "e"));
  EXPECT_THAT(programs(hints({"mine", "f"})), ElementsAre("f", "mine", "a", "b", "c"));
}

TEST_F(Hints, NameTheOptionOfEachRuntime) {
  const auto text_with = [this](const char* file) {
    tree_ = SampleTree();
    add("main_0012", file, Found::symbol, 60);
    add("main_0012", "//anon", Found::no_symbol, 40);
    return only_text();
  };
  EXPECT_THAT(text_with("/usr/bin/node"), HasSubstr("name. Start node with --perf-basic"));
  EXPECT_THAT(text_with("/usr/lib/x86_64-linux-gnu/libnode.so.108"), HasSubstr("--perf-prof"));
  EXPECT_THAT(text_with("/usr/lib/jvm/lib/server/libjvm.so"), HasSubstr("JProf"));
  EXPECT_THAT(text_with("/usr/share/dotnet/libcoreclr.so"), HasSubstr("DOTNET_PerfMapEnabled=1"));
  EXPECT_THAT(text_with("/usr/bin/python3.12"), HasSubstr("python3 -X perf"));
  EXPECT_THAT(text_with("/usr/lib/libpython3.13.so.1.0"), HasSubstr("python3 -X perf"));
  EXPECT_THAT(text_with("/usr/bin/python3.11"), Not(HasSubstr("-X perf")));
  EXPECT_THAT(text_with("/usr/bin/node_exporter"), Not(HasSubstr("--perf")));
  EXPECT_THAT(text_with("/usr/bin/luajit"), HasSubstr("/tmp/perf-PID.map"));
}

TEST_F(Hints, ContainBothCausesForARuntimeWithoutSymbols) {
  add("python3_0012", "/usr/bin/python3.13", Found::function, 60);
  packages_ = {{"/usr/bin/python3.13", "python3.13-minimal"}};
  EXPECT_THAT(only_text(), testing::AllOf(HasSubstr("-X perf"), HasSubstr("python3.13-dbg")));
  EXPECT_EQ(hints().front().brief,
            "100 % of python3 has no name: start it as 'python3 -X perf' (see tprof.out).");
}

TEST_F(Hints, HaveNoControlCharacters) {
  add("app\x1b_0012", "/opt/app", Found::no_symbol, 40);
  packages_ = {{"/opt/app", "p\x1b[31m"}};
  EXPECT_THAT(only_text(), Not(HasSubstr("\x1b")));
}

// A program of that file with code in memory, and a name that it has for some of that code.
std::vector<Hint> hints_with_stacks(const std::string& file, const char* generated,
                                    bool stacks = true) {
  std::string trace = fmt::format(
      "cpus 1\ninfo source=perf\ninfo stacks=user\ninfo tick_ns=1000000\nsection mte 0\n"
      "1 name 0x20 app\n1 module 0x20 0x1000 0x1000 0 {}\n"
      "1 module 0x20 0x8000 0x1000 0 //anon\nsection trace 0\n",
      file);
  for (int i = 1; i <= 10; ++i)
    trace += fmt::format("{}000000 tick user 0x20 0x20 0x1144{}\n", i,
                         stacks ? " stack user 0x8008 0x1110" : "");
  test_support::FakeSymbolizer symbolizer;
  symbolizer.add_symbol(file, 0x100, 0x20, "main");
  symbolizer.add_symbol(file, 0x140, 0x20, "interpret");
  if (generated) symbolizer.add_symbol("//anon", 0, 0x100, generated);
  const test_support::CountedTrace counted(trace, symbolizer);
  const Summary& summary = counted.summary();
  const auto* calls = stacks ? summary.find<CallTree>() : nullptr;
  return make_hints(summary.tree, summary.names, {}, {}, {}, {}, calls);
}

TEST(HintsOnCallers, AreForCallersOfAKnownRuntimeWithoutNames) {
  const auto all = hints_with_stacks("/usr/bin/node", nullptr);
  ASSERT_THAT(all, SizeIs(1));
  EXPECT_EQ(all[0].text,
            "100 % of the ticks of app have callers without a name. Start node with "
            "--perf-basic-prof (or --perf-prof) for the names of JavaScript functions.");
  EXPECT_EQ(all[0].brief,
            "100 % of app has callers without a name: start node with --perf-basic-prof (see "
            "tprof.out).");
  EXPECT_EQ(all[0].unnamed, 0u);
  EXPECT_THAT(hints_with_stacks("/usr/bin/node", "handler"), IsEmpty());
  EXPECT_THAT(hints_with_stacks("/usr/bin/node", nullptr, false), IsEmpty());
  EXPECT_THAT(hints_with_stacks("/usr/bin/app", nullptr), IsEmpty());
}

TEST(HintsOnCallers, SayThatPythonFunctionsAreNotShown) {
  for (const char* file : {"/usr/bin/python3.13", "/usr/lib/libpython3.12.so.1.0"}) {
    const auto all = hints_with_stacks(file, "stub");
    ASSERT_THAT(all, SizeIs(1)) << file;
    EXPECT_EQ(all[0].text,
              "The Python functions that app executed are not shown. Start it as 'python3 -X perf' "
              "for the names of Python functions.");
    EXPECT_THAT(hints_with_stacks(file, "py::handler:/srv/app.py"), IsEmpty());
    // Only callers can be such functions.
    EXPECT_THAT(hints_with_stacks(file, "stub", false), IsEmpty());
  }
  EXPECT_THAT(hints_with_stacks("/usr/bin/python3.11", "stub"), IsEmpty());
}

}  // namespace
