// SPDX-License-Identifier: MIT
// The page at any width and for any trace; the golden cases have its layout.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>
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

// A process with this number of functions: the first one has one tick, the next one two, and so on.
// The idle processor has as many ticks as the process.
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
  std::string page(const post::PageStyle& style, bool with_end = true) {
    const post::PageEnd end{"out/swtrace.nrm2", {"out/tprof.out", "out/tprof.json"}, "out"};
    const auto bytes = trace_from_text(trace);
    EXPECT_TRUE(bytes) << bytes.error().message;
    return run_post(*bytes, symbolizer, {}, {}, {style}, with_end ? &end : nullptr).pages.front();
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
        if (!line.starts_with("  post top ")) {
          EXPECT_LE(post::columns_of(line), width) << line;
        }
      if (functions == 60 && width == 80) {
        EXPECT_EQ(lines.size(), 23u);
      }
    }
}

// A process with a child of another name, 40 functions that each have a path of their own, other
// processes, few ticks if few_ticks, and a hint.
std::vector<std::string> crowded_page(size_t width, bool few_ticks, uint64_t unnamed,
                                      const post::PageStyle& style = {}) {
  FakeSymbolizer symbolizer;
  std::string text =
      "cpus 1\ninfo pid=32\ninfo scope=system\ninfo tick_ns=1000000\ninfo stacks=user\n"
      "info cannot_see=Code that runs with interrupts disabled\ninfo cannot_see=Idle processors\n"
      "section mte 0\n1 name 32 program\n1 module 32 0x1000 0x100000 0 /bin/program\n"
      "1 name 48 other\n1 fork 33 32\n1 exec 33\n1 name 33 child\nsection trace 0 lost=7\n";
  uint64_t time = 1000;
  for (unsigned i = 0; i < 40; ++i) {
    symbolizer.add_symbol("/bin/program", i * 16, 16, fmt::format("function_{:02}", i));
    for (unsigned tick = 0; tick < (few_ticks ? 2u : 40u + i); ++tick)
      text += fmt::format("{} tick user 32 32 {} stack user {} {}\n", ++time, 0x1000 + i * 16,
                          0x1004 + i * 16, 0x1004 + (i + 1) % 40 * 16);
    text += fmt::format("{} tick user 33 33 0x9000000\n{} tick user 48 48 0x9000000\n", time + 1,
                        time + 1);
  }
  const std::vector<post::Hint> hints{
      {"program", 1000, unnamed,
       "50 % of the ticks of program have no name. Start it with --perf-basic-prof (or "
       "--perf-prof) "
       "for the names of JavaScript functions; /usr/bin/program, "
       "/usr/lib/x86_64-linux-gnu/libc.so.6 "
       "lack symbols: install program-dbgsym, libc6-dbg, or set DEBUGINFOD_URLS for post.",
       "50 % of program has no name: start it with --perf-basic-prof (see tprof.out)."}};
  const post::PageEnd end{"out/swtrace.nrm2", {"out/tprof.out", "out/tprof.json"}, "out"};
  post::Options options;
  options.tree = true;
  post::PageStyle wanted = style;
  wanted.width = width;
  const auto bytes = trace_from_text(text);
  EXPECT_TRUE(bytes) << bytes.error().message;
  return lines_of(
      run_post(*bytes, symbolizer, options, {}, {wanted}, &end, {}, hints).pages.front());
}

size_t count_containing(const std::vector<std::string>& lines, std::string_view text) {
  return static_cast<size_t>(std::ranges::count_if(
      lines, [&](const std::string& line) { return line.find(text) != std::string::npos; }));
}

TEST(Page, TheFiveHottestFunctionsStayWithPathsAndAHint) {
  for (const bool few_ticks : {false, true})
    for (const size_t width : {40u, 80u, 200u}) {
      const auto lines = crowded_page(width, few_ticks, 500);
      const std::string page = fmt::format("{}", fmt::join(lines, "\n"));
      EXPECT_LE(lines.size(), 23u) << page;
      // The child's ticks are another row.
      EXPECT_GE(count_containing(lines, "  program") + count_containing(lines, "NoSymbols"), 5u)
          << page;
      if (width < 80) continue;
      EXPECT_EQ(count_containing(lines, "Hottest paths"), 1u) << page;
      EXPECT_GE(count_containing(lines, " > "), 1u) << page;
      EXPECT_EQ(count_containing(lines, "Hint: 50 %"), 1u) << page;
    }
  // With a number of functions all is there.
  const auto all = crowded_page(80, false, 500, {.rows = 5});
  EXPECT_EQ(count_containing(all, " > "), 5u);
  EXPECT_EQ(count_containing(all, "DEBUGINFOD_URLS"), 1u);
}

TEST(Page, AHintOnAFewOfThePagesTicksIsOnlyInTheReport) {
  EXPECT_EQ(count_containing(crowded_page(80, false, 50), "Hint:"), 0u);
}

TEST(Page, InAReportItHasTheSameFunctions) {
  Program program(60);
  const std::string printed = program.page({});
  const std::string report = program.page({}, false);
  EXPECT_TRUE(printed.starts_with(report));
  EXPECT_GT(printed.size(), report.size());
}

// 60 functions have 1830 ticks; each share is rounded by itself.
TEST(Page, SharesOfFunctionsAndOfTheRestAddUpToAll) {
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

TEST(Page, OnlyExactSharesAreShownAsZeroOrAHundredPercent) {
  Program program(1);
  for (int i = 0; i < 2500; ++i)
    program.trace += std::to_string(5000 + i) + " tick user 0x20 0x20 0x9000000\n";
  const std::string page = program.page({.rows = 2});
  EXPECT_NE(page.find(" >99.9 %  NoSymbols"), std::string::npos) << page;
  EXPECT_NE(page.find("  <0.1 %  function_0"), std::string::npos) << page;
  EXPECT_NE(Program(1).page({}).find("  100 %  function_0"), std::string::npos);
}

TEST(Page, ColoursAreUsedOnlyOnRequest) {
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
  EXPECT_NE(page.find("post top -r 'my dir/it'\\''s.nrm2' --command 32"), std::string::npos)
      << page;
}

TEST(Page, TheNextCommandHasTheSelection) {
  FakeSymbolizer symbolizer;
  const auto bytes = trace_from_text(Program(1).trace);
  ASSERT_TRUE(bytes);
  const auto next = [&](std::vector<std::string> selection) {
    const post::PageEnd end{"swtrace.nrm2", {}, ".", "post", std::move(selection)};
    return run_post(*bytes, symbolizer, {}, {}, {{.width = 200}}, &end).pages.front();
  };
  EXPECT_NE(next({"--cpus=0"}).find("post top --command 32 --cpus=0\n"), std::string::npos);
  EXPECT_NE(next({"--command=cc1*"}).find("post top '--command=cc1*'\n"), std::string::npos);
}

TEST(Page, OnANarrowTerminalTheNextCommandCountsAsTwoLines) {
  const std::vector<std::string> lines = crowded_page(40, false, 0);
  ASSERT_GT(lines.back().size(), 40u);
  EXPECT_EQ(lines.size(), 22u) << fmt::format("{}", fmt::join(lines, "\n"));
  EXPECT_EQ(crowded_page(80, false, 0).size(), 23u);
}

TEST(Page, ACycleOfParentsIsHandled) {
  Program program(1);
  program.trace +=
      "section mte 0\n1 existing 0x20 0x21\n1 existing 0x21 0x20\n1 existing 0x22 0x22\n";
  EXPECT_NE(program.page({}).find("program:32 and 1 descendant:"), std::string::npos);
}

PostRun run_of(const std::string& trace, const post::PageStyle& style = {},
               const post::Options& options = {}, FakeSymbolizer&& symbolizer = {}) {
  const auto bytes = trace_from_text(trace);
  EXPECT_TRUE(bytes) << bytes.error().message;
  return run_post(*bytes, symbolizer, options, {}, {style});
}

std::string ticks_of(unsigned pid, unsigned count, uint64_t& time) {
  std::string text;
  for (unsigned i = 0; i < count; ++i)
    text += fmt::format("{} tick user {} {} 0x1000\n", time += 1000, pid, pid);
  return text;
}

// make, two processes cc1, one as, and sh, whose share is too small to be shown.
std::string make_trace(unsigned ticks_of_sh) {
  uint64_t time = 100'000;
  return "cpus 1\ninfo pid=32\ninfo scope=system\ninfo tick_ns=1000000\nsection mte 0\n"
         "1 name 32 make\n10 fork 33 32\n11 exec 33\n12 name 33 cc1\n13 fork 34 32\n"
         "14 exec 34\n15 name 34 cc1\n16 fork 35 32\n17 exec 35\n18 name 35 as\n"
         "19 fork 36 32\n20 exec 36\n21 name 36 sh\nsection trace 0\n" +
         ticks_of(32, 40, time) + ticks_of(33, 700, time) + ticks_of(34, 100, time) +
         ticks_of(35, 160, time) + ticks_of(36, ticks_of_sh, time);
}

TEST(Page, NamesTheProcessesOfTheSubjectIfTheyHaveSeveralNames) {
  const auto lines = lines_of(run_of(make_trace(0)).pages.front());
  EXPECT_TRUE(lines[0].starts_with("make:32 and 4 descendants: ")) << lines[0];
  EXPECT_EQ(lines[2], "Processes: cc1 80.0 %, as 16.0 %, make 4.0 %");
  const auto narrow = lines_of(run_of(make_trace(0), {.width = 40}).pages.front());
  EXPECT_NE(std::ranges::find(narrow, "Processes: cc1 80.0 %, others 20.0 %"), narrow.end());
  uint64_t time = 100'000;
  const std::string alone =
      "cpus 1\ninfo pid=32\nsection mte 0\n1 name 32 make\n"
      "10 fork 33 32\n11 name 33 sh\nsection trace 0\n" +
      ticks_of(32, 999, time) + ticks_of(33, 1, time);
  EXPECT_EQ(run_of(alone).pages.front().find("Processes:"), std::string::npos);
}

// One of the ticks is in the kernel.
TEST(Page, WithFewTicksItContainsTheErrorOfTheShares) {
  const auto of = [](unsigned count, bool utf8 = false) {
    uint64_t time = 1000;
    return run_of("cpus 1\ninfo pid=32\nsection mte 0\n1 name 32 app\nsection trace 0\n" +
                      ticks_of(32, count - 1, time) +
                      fmt::format("{} tick kernel 32 32 0xffffffff81000000\n", time + 1),
                  {.width = 200, .utf8 = utf8})
        .pages.front();
  };
  EXPECT_NE(of(37).find("Only 37 ticks: shares are right to about +-17 points. A longer run, or "
                        "more ticks (run.tprof -c), helps.\n"),
            std::string::npos)
      << of(37);
  EXPECT_NE(of(99, true).find("Only 99 ticks: shares are right to about ±10 points."),
            std::string::npos);
  // Tenths of percents are only for many ticks.
  EXPECT_NE(of(37).find("    97 %  NoSymbols"), std::string::npos) << of(37);
  EXPECT_EQ(of(100).find("Only"), std::string::npos);
  EXPECT_NE(of(100).find("  99.0 %  NoSymbols"), std::string::npos) << of(100);
}

TEST(Page, WithEventTicksItCountsEvents) {
  const auto of = [](unsigned period, unsigned count) {
    uint64_t time = 1000;
    return run_of(fmt::format("cpus 1\ninfo pid=32\ninfo scope=system\ninfo tick=event\n"
                              "info event=page-faults\ninfo period={}\nsection mte 0\n"
                              "1 name 32 app\n1 name 40 other\nsection trace 0\n",
                              period) +
                      ticks_of(32, count, time) + ticks_of(40, 50, time),
                  {.width = 200})
        .pages.front();
  };
  const std::string every = of(1, 150);
  EXPECT_NE(every.find("150 page-faults (one tick each)\n"), std::string::npos) << every;
  EXPECT_NE(every.find("Rest of the system: 25.0 % of all page-faults"), std::string::npos);
  const std::string some = of(10, 50);
  EXPECT_NE(some.find("about 500 page-faults (50 ticks, one every 10)\n"), std::string::npos)
      << some;
  EXPECT_NE(some.find("A longer run, or a tick for fewer events (run.tprof -c), helps."),
            std::string::npos);
  EXPECT_NE(of(10, 0).find("it made fewer than 10 page-faults"), std::string::npos);
  EXPECT_NE(of(1, 0).find("It made no page-faults."), std::string::npos);
  // A count of every event has no statistical error.
  EXPECT_NE(of(10, 3).find("Only 3 ticks"), std::string::npos) << of(10, 3);
  EXPECT_EQ(of(1, 3).find("Only 3 ticks"), std::string::npos) << of(1, 3);
  for (const std::string& page : {every, some, of(10, 0), of(1, 0)})
    EXPECT_EQ(page.find("processor time"), std::string::npos) << page;
}

// A process of 10 us, with a tick each us.
TEST(Page, ElapsedTimeIsThatOfTheWholeSubjectForAnySelection) {
  uint64_t time = 0;
  const std::string trace =
      "cpus 1\ninfo pid=32\ninfo tick_ns=1000000\nsection mte 0\n1000 fork 32 1\n"
      "1000 name 32 app\n11000 kill 32\nsection trace 0\n" +
      ticks_of(32, 10, time);
  post::Options selecting;
  selecting.report.selection.ticks = {3, 6};
  const auto head = [&](const post::Options& options) {
    return lines_of(run_of(trace, {.width = 200}, options).pages.front()).front();
  };
  EXPECT_EQ(head({}), "app:32: 10 us elapsed, 10 ms of processor time, 10 ticks (samples)");
  EXPECT_EQ(head(selecting),
            "app:32: 10 us elapsed, 4 selected ticks (samples) within 3 us of it, 4.0 ms of "
            "processor time in these");
  EXPECT_EQ(lines_of(run_of(trace, {.width = 200}, selecting).pages.front())[1],
            "Selected: ticks number 3 to 6 (-twin)");
  // With a window of records the rest of the trace is not read.
  selecting.report.selection.ticks = {};
  selecting.report.selection.records = {1, 8};
  EXPECT_EQ(head(selecting).find("elapsed"), std::string::npos) << head(selecting);
}

TEST(Page, AMethodKeepsItsNameAt80Columns) {
  FakeSymbolizer symbolizer;
  symbolizer.add_symbol("/usr/lib/a_library_with_a_long_name.so.1", 0, 16,
                        "void std::vector<std::map<int, std::string>, std::allocator<std::map<int, "
                        "std::string> > >::emplace_back<std::map<int, std::string> >(std::map<int, "
                        "std::string>&&)");
  uint64_t time = 1000;
  const std::string page =
      run_of(
          "cpus 1\ninfo pid=32\nsection mte 0\n1 name 32 app\n"
          "1 module 32 0x1000 0x1000 0 /usr/lib/a_library_with_a_long_name.so.1\n"
          "section trace 0\n" +
              ticks_of(32, 100, time),
          {}, {}, std::move(symbolizer))
          .pages.front();
  EXPECT_NE(page.find(" 100.0 %  std::vector<..>::emplace_back<..>  a_library"), std::string::npos)
      << page;
}

TEST(Page, ASelectionWithoutTicksOfTheSubjectIsShownForTheWholeSystem) {
  uint64_t time = 1000;
  const std::string trace =
      "cpus 1\ninfo pid=32\ninfo scope=system\nsection mte 0\n1 name 32 app\n1 name 40 other\n"
      "section trace 0\n" +
      ticks_of(32, 100, time) + ticks_of(40, 300, time);
  post::Options selecting;
  selecting.report.selection.names[static_cast<size_t>(post::NameKind::process)].only = {"other"};
  const std::string page = run_of(trace, {}, selecting).pages.front();
  EXPECT_TRUE(page.starts_with("The whole system, 1 processor: ")) << page;
  EXPECT_NE(page.find("\nNone of the selected ticks fell on app:32.\n"), std::string::npos) << page;
  EXPECT_NE(page.find(" 100.0 %  NoSymbols  NoModule  (other)\n"), std::string::npos) << page;
}

TEST(Page, StacksThatTheTraceHasNeedNoNewRun) {
  uint64_t time = 1000;
  const std::string ticks =
      "section mte 0\n1 name 32 app\nsection trace 0\n" + ticks_of(32, 9, time);
  const auto page = [&](const std::string& info) {
    const auto bytes = trace_from_text("cpus 1\ninfo pid=32\n" + info + ticks);
    EXPECT_TRUE(bytes);
    FakeSymbolizer symbolizer;
    const post::PageEnd end{"elsewhere/run.nrm2", {"out/tprof.out"}, "out"};
    return run_post(*bytes, symbolizer, {}, {}, {{.width = 200}}, &end).pages.front();
  };
  EXPECT_NE(page("").find("Next: run.tprof -g shows callers; "), std::string::npos) << page("");
  EXPECT_NE(page("info stacks=user\n").find("Next: run.tprof -p -g shows callers; "),
            std::string::npos);
  EXPECT_NE(page("info source=perf record\n").find("Next: perf record --call-graph dwarf has"),
            std::string::npos);
  EXPECT_NE(page("info source=perf record\ninfo stacks=user\n").find("Next: post --tree shows"),
            std::string::npos);
  EXPECT_NE(page("").find("Files in out: tprof.out; trace: elsewhere/run.nrm2\n"),
            std::string::npos);
}

// Ticks at addresses of one function, with a stack of the given words for each.
std::string page_with_stacks(const std::vector<std::string>& stacks) {
  FakeSymbolizer symbolizer;
  symbolizer.add_symbol("/bin/app", 0, 16, "leaf");
  symbolizer.add_symbol("/bin/app", 16, 16, "caller");
  symbolizer.add_symbol("/bin/app", 32, 16, "outermost");
  std::string trace =
      "cpus 1\ninfo pid=32\nsection mte 0\n1 name 32 app\n"
      "1 module 32 0x1000 0x1000 0 /bin/app\nsection trace 0\n";
  uint64_t time = 1000;
  for (const std::string& stack : stacks)
    trace += fmt::format("{} tick user 32 32 0x1000 stack user {}\n", ++time, stack);
  post::Options options;
  options.tree = true;
  return run_of(trace, {}, options, std::move(symbolizer)).pages.front();
}

TEST(Page, CutStacksHaveTheirNumberAndTheOptionThatHelps) {
  const std::string cut = page_with_stacks({"0x1018 user-cut", "0x1018 user-cut", "0x1018"});
  EXPECT_NE(cut.find("\n[cut]: 2 of 3 stacks are deeper than the bytes that were copied (most: "
                     "run.tprof\n  --stack-bytes=61440).\n"),
            std::string::npos)
      << cut;
  EXPECT_EQ(page_with_stacks({"0x1018"}).find("[cut]"), std::string::npos);
}

TEST(Page, BrokenStacksOfJavaHaveTheOptionOfJava) {
  FakeSymbolizer symbolizer;
  symbolizer.add_symbol("/jvm/libjvm.so", 0, 16, "leaf");
  post::Options options;
  options.tree = true;
  const std::string page = run_of(
                               "cpus 1\ninfo pid=32\nsection mte 0\n1 name 32 java\n"
                               "1 module 32 0x1000 0x1000 0 /jvm/libjvm.so\nsection trace 0\n"
                               "100 tick user 32 32 0x1000 stack user user-broken\n",
                               {}, options, std::move(symbolizer))
                               .pages.front();
  EXPECT_NE(page.find("-XX:+PreserveFramePointer"), std::string::npos) << page;
  EXPECT_EQ(page.find("gcc"), std::string::npos) << page;
}

TEST(Page, BrokenStacksWithoutACallerAreExplainedInsteadOfRepeatingTheFunctions) {
  const std::string broken = page_with_stacks({"user-broken", "user-broken"});
  EXPECT_NE(broken.find(
                "\nNo callers are known: the stacks are broken, as in code without frame pointers\n"
                "  (gcc: -fno-omit-frame-pointer) whose unwind tables are missing or were not\n"
                "  used.\n"),
            std::string::npos)
      << broken;
  EXPECT_EQ(broken.find("Hottest paths"), std::string::npos) << broken;
  const std::string one_caller = page_with_stacks({"user-broken", "0x1014 user-broken"});
  EXPECT_NE(one_caller.find("[broken] > caller > leaf"), std::string::npos) << one_caller;
  EXPECT_EQ(one_caller.find("No callers"), std::string::npos) << one_caller;
}

TEST(InterruptsOff, TicksWhereTheyAreEnabledAreExplained) {
  const auto of = [](unsigned there, const char* unseen) {
    FakeSymbolizer symbolizer;
    symbolizer.add_symbol("vmlinux", 0xffffffff81000000, 16, "pvm_irq_enable");
    std::string trace = std::string("cpus 1\ninfo cannot_see=") + unseen + "\nsection trace 0\n";
    for (unsigned i = 0; i < 100; ++i)
      trace += fmt::format("{} tick kernel 32 32 {}\n", 1000 + i,
                           i < there ? 0xffffffff81000000 : 0xffffffff82000000);
    std::string text = run_of(trace, {}, {}, std::move(symbolizer)).tprof;
    std::string words;
    for (std::istringstream in(text); in >> text;) words += text + ' ';
    return words;
  };
  constexpr const char* off = "Code that runs with interrupts disabled: its time is ...";
  EXPECT_NE(of(3, off).find("Note : 3 % of the ticks are at pvm_irq_enable, where interrupts are "
                            "enabled again. No tick can come before: "),
            std::string::npos)
      << of(3, off);
  EXPECT_EQ(of(2, off).find("pvm_irq_enable, where"), std::string::npos);
  EXPECT_EQ(of(3, "Wake-ups").find("pvm_irq_enable, where"), std::string::npos);
}

}  // namespace
