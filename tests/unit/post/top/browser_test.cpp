// SPDX-License-Identifier: MIT
// The browser of a trace: views, selection, sorting, searching and keys, as rows and as the text of
// a screen. Terminals are in tests/cli/top.bats.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <locale.h>
#include <top/browser.h>
#include <top/cells.h>
#include <top/screen.h>

#include <memory>
#include <sstream>

#include "counted_trace.h"

namespace {

using namespace test_support;
using namespace post::top;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

class BrowserTest : public testing::Test {
 protected:
  BrowserTest() {
    EXPECT_NE(::setlocale(LC_CTYPE, "C.UTF-8"), nullptr);
    add_browsed_symbols(symbolizer);
    show(browsed_trace);
  }
  ~BrowserTest() override { ::setlocale(LC_CTYPE, "C"); }

  void show(std::string_view text, bool recording = false,
            const std::vector<std::string>& options = {}) {
    auto counted = std::make_unique<CountedTrace>(text, symbolizer, options);
    browser.show(counted->summary(), recording);
    trace = std::move(counted);
  }

  // Presses a key for each character; '\n', '\b', '\t', '\033', 'v' and '^' are special keys.
  void press(std::string_view keys) {
    for (const char key : keys) action = press_one(key);
  }
  Action press_one(char key) {
    switch (key) {
      case '\n':
        return browser.press({Key::Kind::enter});
      case '\b':
        return browser.press({Key::Kind::backspace});
      case '\t':
        return browser.press({Key::Kind::tab});
      case 'v':
        return browser.press({Key::Kind::down});
      case '^':
        return browser.press({Key::Kind::up});
      case '\033':
        return browser.press({Key::Kind::escape});
      default:
        return browser.press({Key::Kind::character, std::string(1, key)});
    }
  }

  // "TICKS NAME OWNER" of each row.
  std::vector<std::string> rows() const {
    std::vector<std::string> texts;
    for (const post::top::Row& row : browser.rows())
      texts.push_back(std::to_string(row.ticks) + " " + row.name +
                      (row.owner.empty() ? "" : " " + row.owner));
    return texts;
  }
  std::string under_cursor() const { return browser.rows()[browser.cursor()].name; }
  Screen screen(size_t width = 80, size_t height = 24) {
    browser.resize(width, rows_of(height));
    return draw(browser, "run.nrm2", width, height);
  }

  FakeSymbolizer symbolizer;
  std::unique_ptr<CountedTrace> trace;
  Browser browser{true};
  Action action = Action::none;
};

TEST_F(BrowserTest, EachViewHasAllTicks) {
  EXPECT_THAT(rows(), ElementsAre("9 app:32", "1 evil\\x1b[2J:48"));
  press("2");
  EXPECT_THAT(rows(), ElementsAre("7 app:32 app:32", "2 worker:33 app:32",
                                  "1 evil\\x1b[2J:48 evil\\x1b[2J:48"));
  press("3");
  EXPECT_THAT(rows(), ElementsAre("7 /bin/app", "1 /bin/中文", "1 /usr/lib/libm.so", "1 [kernel]"));
  press("4");
  EXPECT_THAT(rows(), ElementsAre("6 leaf(int) app", "1 NoSymbolFound 中文", "1 sin libm.so",
                                  "1 sys_write [kernel]", "1 work app"));
  EXPECT_EQ(browser.whole(), 10u);
}

TEST_F(BrowserTest, TabShowsTheViewsInTurn) {
  for (const View view : {View::threads, View::modules, View::symbols, View::processes}) {
    press("\t");
    EXPECT_EQ(browser.view(), view);
  }
  browser.press({Key::Kind::back_tab});
  EXPECT_EQ(browser.view(), View::symbols);
}

TEST_F(BrowserTest, EnterGoesFromAProcessToItsModulesAndSymbolsAndBackspaceReturns) {
  press("\n");
  EXPECT_THAT(rows(), ElementsAre("7 /bin/app", "1 /usr/lib/libm.so", "1 [kernel]"));
  EXPECT_EQ(browser.whole(), 9u);
  press("v\n");
  EXPECT_THAT(rows(), ElementsAre("1 sin libm.so"));
  EXPECT_THAT(screen().line(1), HasSubstr("All > app:32 > /usr/lib/libm.so"));
  press("\b");
  EXPECT_EQ(under_cursor(), "/usr/lib/libm.so");
  press("\b\b");
  EXPECT_EQ(browser.view(), View::processes);
  EXPECT_EQ(browser.message(), "This is where you began.");
}

TEST_F(BrowserTest, ASelectedThreadHasItsOwnModules) {
  press("2v\n");
  EXPECT_THAT(rows(), ElementsAre("1 /bin/app", "1 /usr/lib/libm.so"));
}

TEST_F(BrowserTest, ASelectedSymbolShowsWhichProcessesAndThreadsRunIt) {
  press("4f2");
  EXPECT_THAT(rows(), ElementsAre("5 app:32 app:32", "1 worker:33 app:32"));
  EXPECT_EQ(browser.whole(), 6u);
}

TEST_F(BrowserTest, AnExcludedRowIsLeftOutUntilBackspace) {
  press("4x");
  EXPECT_THAT(rows(), ElementsAre("1 NoSymbolFound 中文", "1 sin libm.so", "1 sys_write [kernel]",
                                  "1 work app"));
  EXPECT_EQ(browser.whole(), 4u);
  EXPECT_THAT(screen().line(1), HasSubstr("All, without leaf(int)"));
  press("xxxx");
  EXPECT_THAT(rows(), ElementsAre());
  EXPECT_THAT(screen().text(), HasSubstr("No tick is left. Backspace goes back."));
  press("\n\b\b\b\b\b");
  EXPECT_EQ(browser.whole(), 10u);
}

TEST_F(BrowserTest, RowsAreSortedByTicksOrByName) {
  press("4s");
  EXPECT_THAT(rows(), ElementsAre("1 NoSymbolFound 中文", "6 leaf(int) app", "1 sin libm.so",
                                  "1 sys_write [kernel]", "1 work app"));
  EXPECT_EQ(under_cursor(), "leaf(int)");
  EXPECT_THAT(screen().line(2), HasSubstr("by name, 2 of 5"));
  press("s");
  EXPECT_EQ(browser.cursor(), 0u);
}

TEST_F(BrowserTest, SearchingContinuesAtTheFirstRow) {
  press("4/LIB\n");
  EXPECT_EQ(browser.message(), "No row contains 'LIB'.");
  press("/lib\n");
  EXPECT_EQ(under_cursor(), "sin");
  press("/app\n");
  EXPECT_EQ(under_cursor(), "work");
  press("n");
  EXPECT_EQ(under_cursor(), "leaf(int)");
  EXPECT_EQ(browser.message(), "Found from the beginning on.");
  press("N");
  EXPECT_EQ(under_cursor(), "work");
  press("^n");
  EXPECT_EQ(under_cursor(), "work");
}

TEST_F(BrowserTest, TypedTextCanBeCorrectedAndCancelled) {
  press("4/wx\bork");
  EXPECT_EQ(screen().line(23), "Search: work");
  EXPECT_EQ(screen().caret, 12u);
  press("\033");
  EXPECT_FALSE(browser.typed());
  EXPECT_EQ(under_cursor(), "leaf(int)");
  browser.press({Key::Kind::character, "/"});
  browser.press({Key::Kind::character, "文"});
  press("\b\b");
  EXPECT_FALSE(browser.typed());
}

TEST_F(BrowserTest, CallersAndCalleesOfASymbol) {
  press("4c");
  EXPECT_THAT(rows(), ElementsAre("5 work app", "1 other app"));
  EXPECT_EQ(browser.note(), "6 ticks in it and what it calls, 6 in itself.");
  press("\n");
  EXPECT_EQ(browser.symbol(), "work");
  EXPECT_THAT(rows(), ElementsAre("7 main app"));
  press("\t\t");
  EXPECT_EQ(browser.view(), View::lines);
  press("\t\t");
  EXPECT_EQ(browser.view(), View::callees);
  EXPECT_THAT(rows(), ElementsAre("5 leaf(int) app", "1 (in itself)", "1 sys_write [kernel]"));
  press("v\n");
  EXPECT_EQ(browser.message(), "There is nothing below this row.");
}

TEST_F(BrowserTest, CallersFollowTheSelectedThread) {
  press("2vf4c");
  EXPECT_EQ(browser.symbol(), "leaf(int)");
  EXPECT_THAT(rows(), ElementsAre("1 other app"));
}

// Ticks in libm alone, which other() calls; others are in leaf(int).
TEST_F(BrowserTest, CallersAndCalleesFollowTheSelectedModule) {
  press("3vvf4c");
  EXPECT_EQ(browser.symbol(), "sin");
  EXPECT_THAT(rows(), ElementsAre("1 other app"));
  press("\n");
  EXPECT_THAT(rows(), ElementsAre("1 main app"));
  EXPECT_EQ(browser.note(), "1 ticks in it and what it calls, 0 in itself.");
  press("\t");
  EXPECT_THAT(rows(), ElementsAre("1 sin libm.so"));
  press("\t");
  EXPECT_EQ(browser.view(), View::lines);
  EXPECT_THAT(screen().text(), HasSubstr("No selected tick fell on it itself."));
}

TEST_F(BrowserTest, CallersAndCalleesFollowAnExcludedSymbol) {
  press("4x/work\nc");
  EXPECT_THAT(rows(), ElementsAre("2 main app"));
  EXPECT_EQ(browser.note(), "2 ticks in it and what it calls, 1 in itself.");
  press("\t");
  EXPECT_THAT(rows(), ElementsAre("1 (in itself)", "1 sys_write [kernel]"));
}

TEST_F(BrowserTest, CallersAndLinesFollowTheOptions) {
  show(browsed_trace, false, {"--time", "0.0025-", "--no-symbol", "work"});
  press("4c");
  EXPECT_THAT(rows(), ElementsAre("3 work app", "1 other app"));
  press("\t\t");
  EXPECT_THAT(screen().text(), HasSubstr("leaf(int) in /bin/app: 4 ticks"));
}

TEST_F(BrowserTest, TheTotalsAboveCallersAreCompleteWhereTheHeadsDoNotFit) {
  press("4c");
  EXPECT_THAT(screen(72).text(), HasSubstr("6 ticks in it and what it calls, 6 in itself.\n"));
  EXPECT_THAT(screen(120).text(), HasSubstr("MODULE"));
}

TEST_F(BrowserTest, LinesFollowTheSelectedThread) {
  press("4\n");
  EXPECT_THAT(screen().text(),
              HasSubstr("leaf(int) in /bin/app: 6 ticks, 60.0 % of all processors' ticks"));
  EXPECT_THAT(screen().text(), HasSubstr("    3  50.0 %  +10  nop"));
  press("2vf4\n");
  EXPECT_THAT(screen().text(),
              HasSubstr("leaf(int) in /bin/app: 1 tick, 50.0 % of the selected ticks"));
  EXPECT_THAT(screen().text(), HasSubstr("    1 100.0 %   +4  nop"));
  EXPECT_THAT(screen().text(), Not(HasSubstr("+10  nop")));
  press("f");
  EXPECT_THAT(browser.message(), HasSubstr("can be selected"));
}

TEST_F(BrowserTest, WithoutStacksThereAreNoCallers) {
  show(
      "section mte 0\n1 name 0x20 app\n1 module 0x20 0x1000 0x1000 0 /bin/app\n"
      "section trace 0\n100 tick user 0x20 0x20 0x1140\n");
  press("4c");
  EXPECT_THAT(rows(), ElementsAre());
  EXPECT_THAT(
      screen().text(),
      HasSubstr("  The trace contains no call stacks: callers are unknown. Stacks are recorded\n"
                "    with the ticks after 'swtrace stacks both', or by run.tprof -g.\n"));
}

TEST_F(BrowserTest, ATraceThatGrewKeepsTheRowUnderTheCursorAndTheSelection) {
  press("3vf4");
  EXPECT_THAT(rows(), ElementsAre("1 NoSymbolFound 中文"));
  press("\bv");
  EXPECT_EQ(under_cursor(), "/usr/lib/libm.so");
  std::string longer(browsed_trace);
  for (int i = 0; i < 20; ++i) longer += "11000000 tick user 0x20 0x20 0x8004\n";
  show(longer, true);
  EXPECT_EQ(under_cursor(), "/usr/lib/libm.so");
  EXPECT_EQ(browser.cursor(), 0u);
  EXPECT_THAT(screen().line(0), HasSubstr("30 ticks in 10 ms, recording "));
}

// More instructions above it have ticks then.
TEST_F(BrowserTest, ATraceThatGrewKeepsTheInstructionUnderTheCursor) {
  press("4\n/+10\n");
  EXPECT_THAT(under_cursor(), HasSubstr("    3  50.0 %  +10  nop"));
  const size_t before = browser.cursor();
  press("c");
  std::string longer(browsed_trace);
  for (int i = 0; i < 4; ++i) longer += "11000000 tick user 0x20 0x20 0x1149\n";
  show(longer, true);
  press("\t\t/+10\n");
  const size_t after = browser.cursor();
  EXPECT_GT(after, before);
  show(browsed_trace);
  EXPECT_EQ(browser.cursor(), before);
  show(longer, true);
  EXPECT_EQ(browser.cursor(), after);
  // Without its row the nearest one above.
  press("/+a\n");
  EXPECT_THAT(under_cursor(), HasSubstr("+a  nop"));
  show(browsed_trace);
  EXPECT_THAT(under_cursor(), HasSubstr("+6  nop"));
}

TEST_F(BrowserTest, BackspaceReturnsToTheSameRowOfATraceThatGrew) {
  press("3vvv\n");
  std::string longer(browsed_trace);
  for (int i = 0; i < 20; ++i) longer += "11000000 tick kernel 0x20 0x20 0xffffffff81000000\n";
  show(longer, true);
  press("\b");
  EXPECT_EQ(under_cursor(), "[kernel]");
  EXPECT_EQ(browser.cursor(), 0u);
}

TEST_F(BrowserTest, ATraceWithoutTicksShowsAMessage) {
  show("info ended=running\n", true);
  EXPECT_THAT(screen().text(), HasSubstr("No tick is recorded yet."));
  press("\n\b4c2n/a\nxfs");
  EXPECT_THAT(screen().text(), Not(HasSubstr("Recording ended early")));
}

TEST_F(BrowserTest, EveryScreenNamesMissingData) {
  for (const char* keys : {"", "4", "\n", "c", "?"}) {
    press(keys);
    EXPECT_THAT(screen().line(22),
                "Nothing lost as far as the file shows. Not seen: some idle time.");
  }
  show("section trace 0 lost=7\n100 tick user 0x20 0x20 0x1140\n");
  EXPECT_THAT(screen().line(22), HasSubstr("7 records were lost."));
}

TEST_F(BrowserTest, AnyKeyClosesTheHelp) {
  press("?");
  EXPECT_THAT(screen().text(), HasSubstr("Enter, Right       open the row"));
  EXPECT_THAT(screen().text(), HasSubstr("Behind a module\n"));
  press("x");
  EXPECT_THAT(rows(), ElementsAre("9 app:32", "1 evil\\x1b[2J:48"));
  press("?q");
  EXPECT_EQ(action, Action::quit);
  press("r");
  EXPECT_EQ(action, Action::read);
}

TEST_F(BrowserTest, TheWholeScreenAt80x24) {
  press("4");
  std::string expected =
      " post top  run.nrm2                                          10 ticks in 9.0 ms \n"
      "All\n"
      " 1 Processes   2 Threads   3 Modules  [4 Symbols]               by ticks, 1 of 5\n"
      "   SHARE  TICKS  SYMBOL         MODULE\n"
      "  60.0 %      6  leaf(int)      app                                             \n"
      "  10.0 %      1  NoSymbolFound  中文\n"
      "  10.0 %      1  sin            libm.so\n"
      "  10.0 %      1  sys_write      [kernel]\n"
      "  10.0 %      1  work           app\n";
  expected += std::string(13, '\n') +
              "Nothing lost as far as the file shows. Not seen: some idle time.\n"
              "Enter open  Backspace back  Tab view  f x select  s sort  / find  ? help  q end\n";
  EXPECT_EQ(screen().text(), expected);
}

// Every view at every size: no line is wider than the terminal, no screen higher.
TEST_F(BrowserTest, EveryViewFitsEverySizeOfTerminal) {
  std::string text(browsed_trace);
  for (int i = 0; i < 100; ++i)
    text += "1000000" + std::to_string(100 + i) + " tick user 0x20 0x20 0x8000\n";
  symbolizer.add_symbol("/bin/中文", 0x140, 0x20,
                        "_ZN5sieve10ThirtyTwo_IiSaIiEE6removeERKSt6vectorIiSaIiEEm");
  for (const bool utf8 : {true, false}) {
    browser.~Browser();
    new (&browser) Browser(utf8);
    show(text);
    for (const char* keys : {"", "2", "3", "4", "c", "\t", "\t", "1x", "?", "q", "/abc文"}) {
      press(keys);
      for (const auto& [width, height] :
           {std::pair<size_t, size_t>{80, 24}, {200, 50}, {40, 8}, {57, 11}, {30, 5}, {3, 2}}) {
        const Screen drawn = screen(width, height);
        EXPECT_LE(drawn.lines.size(), height);
        for (size_t number = 0; number < drawn.lines.size(); ++number)
          EXPECT_LE(cells_of(drawn.line(number)), width) << drawn.line(number);
      }
    }
  }
}

TEST_F(BrowserTest, ATooSmallTerminalShowsAMessage) {
  EXPECT_EQ(screen(39, 24).text(),
            "The terminal is too\nsmall for post top:\n40 x 8, not 39 x 24.\nq ends.\n");
  EXPECT_THAT(screen(40, 8).text(), HasSubstr("app:32"));
}

TEST_F(BrowserTest, RowsScrollWithTheCursor) {
  std::string text = "section mte 0\n";
  for (int pid = 1; pid <= 30; ++pid) {
    const std::string number = std::to_string(100 + pid);
    text += "1 name " + number + " p" + number + "\n";
  }
  text += "section trace 0\n";
  for (int pid = 1; pid <= 30; ++pid)
    text += "1000 tick user " + std::to_string(100 + pid) + " 1 0x1000\n";
  show(text);
  EXPECT_THAT(screen(80, 11).text(), HasSubstr("p105:105"));
  EXPECT_THAT(screen(80, 11).text(), Not(HasSubstr("p106:106")));
  press("vvvvv");
  EXPECT_EQ(under_cursor(), "p106:106");
  EXPECT_THAT(screen(80, 11).text(), Not(HasSubstr("p101:101")));
  browser.press({Key::Kind::end});
  EXPECT_THAT(screen(80, 11).line(8), HasSubstr("p130:130"));
  browser.press({Key::Kind::page_up});
  EXPECT_EQ(under_cursor(), "p125:125");
  EXPECT_THAT(screen(80, 40).line(4), HasSubstr("p101:101"));
}

}  // namespace
