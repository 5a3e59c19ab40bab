// SPDX-License-Identifier: MIT
// Names of symbols: ranges, duplicates, uncertain symbols; note levels; environment variables.
#include <gmock/gmock.h>

#include <fstream>

#include "a2n_fixture.h"
#include "constants.h"
#include "symbols/duplicate_names.h"

namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using truth::fixture;

using test::bias;

class NamingTest : public A2nTest {
 protected:
  NamingTest() : symbols_(truth::functions(file_)) {}
  uint64_t address(const std::string& name) const { return truth::value_of(symbols_, name) + bias; }

  const std::string file_ = fixture("libfull.so");
  std::vector<truth::NmSymbol> symbols_;
};

TEST_F(NamingTest, ARangeExtendsFromItsFirstSymbolToTheEndOfItsLast) {
  const auto end_of = [&](const std::string& name) {
    for (const truth::NmSymbol& symbol : symbols_)
      if (symbol.name == name) return symbol.value + symbol.size + bias;
    return uint64_t{0};
  };
  // The two ends of the range may be in either order.
  std::string first = "plain_function";
  std::string last = "entry";
  ASSERT_EQ(A2nCollapseSymbolRange("libfull.so", last.c_str(), first.c_str(), "middle"),
            A2N_SUCCESS);
  map(file_, bias);
  if (address(last) < address(first)) std::swap(first, last);
  const Answer begin = ask(address(first));
  EXPECT_EQ(begin.symbol, "middle");
  EXPECT_EQ(begin.data.sym_addr, address(first));
  EXPECT_EQ(begin.data.sym_length, end_of(last) - address(first));
  EXPECT_TRUE(begin.data.flags & A2N_FLAG_RANGE);
  EXPECT_EQ(ask(end_of(last) - 1).symbol, "middle");
  EXPECT_NE(ask(end_of(last)).symbol, "middle");
  EXPECT_NE(ask(address(first) - 1).symbol, "middle");
  EXPECT_THAT(notes(), IsEmpty());
}

TEST_F(NamingTest, ARangeCanShowItsSymbols) {
  A2nCollapseSymbolRange(file_.c_str(), "entry", "entry", nullptr);
  A2nSetReturnRangeSymbolsMode(A2N_RANGE_NAME_SYMBOL);
  map(file_, bias);
  EXPECT_EQ(name_at(address("entry")), "entry..entry.entry");
}

TEST_F(NamingTest, ARangeOfAnotherModuleIsIgnoredAndOneWithoutSymbolsIsNoted) {
  A2nCollapseSymbolRange("libother.so", "entry", "entry", "x");
  A2nCollapseSymbolRange("libfull.so", "entry", "no_such_function", "y");
  map(file_, bias);
  EXPECT_EQ(name_at(address("entry")), "entry");
  EXPECT_THAT(notes(), ElementsAre(HasSubstr("has no symbol no_such_function")));
}

TEST_F(NamingTest, AnInvalidRangeFileAddsNoRange) {
  const std::string ranges = temporary("ranges");
  std::ofstream(ranges) << "# comment\n\nlibfull.so entry entry start\n";
  ASSERT_EQ(A2nSetRangeDescFilename(ranges.c_str()), A2N_SUCCESS);
  map(file_, bias);
  EXPECT_EQ(name_at(address("entry")), "start");
  for (const char* bad : {"libfull.so entry\n", "libfull.so a b c d\n"}) {
    A2nInit();
    std::ofstream(ranges) << "libfull.so entry entry start\n" << bad;
    EXPECT_EQ(A2nSetRangeDescFilename(ranges.c_str()), A2N_RANGE_FILE_ERROR);
    EXPECT_THAT(A2nGetErrorText(), HasSubstr("line 2"));
    map(file_, bias);
    EXPECT_EQ(name_at(address("entry")), "entry");
  }
  EXPECT_EQ(A2nSetRangeDescFilename("/nowhere/ranges"), A2N_FILE_NOT_FOUND);
  EXPECT_EQ(A2nCollapseSymbolRange("m", "", "b", "c"), A2N_INVALID_ARGUMENT);
}

TEST(DuplicateNames, AreNumberedByAddressWithinTheirModule) {
  a2n::SymbolTableBuilder builder;
  const char* names[] = {"init", "run", "init", "init"};
  for (uint64_t i = 0; i < 4; ++i)
    builder.add(0x1000 * (i + 1), 0x10, names[i], a2n::Binding::local, true);
  const a2n::SymbolTable table = builder.build({{0, UINT64_MAX}});
  a2n::DuplicateNames duplicates;
  const auto ordinals = [&](const a2n::TablePart& part) {
    std::vector<uint32_t> all;
    for (uint32_t i = 0; i < 4; ++i)
      if (part.contains(i)) all.push_back(duplicates.ordinal(part, table[i]));
    return all;
  };
  EXPECT_THAT(ordinals({&table}), ElementsAre(1, 1, 2, 3));
  const std::vector<uint32_t> modules = {0, 0, 1, 1};
  EXPECT_THAT(ordinals({&table, &modules, 0}), ElementsAre(1, 1));
  EXPECT_THAT(ordinals({&table, &modules, 1}), ElementsAre(1, 2));
}

TEST_F(NamingTest, DuplicatesAreNumberedOnRequest) {
  const std::string kallsyms = temporary("kallsyms");
  std::ofstream(kallsyms) << "ffffffff81000000 T _stext\nffffffff81000000 t init\n"
                             "ffffffff81000100 t init\nffffffff81000200 T _etext\n"
                             "ffffffffc0000000 t init\t[ext4]\n";
  for (const int on : {0, 1}) {
    A2nInit();
    A2nSetKallsymsFileLocation(kallsyms.c_str(), 0, 0);
    A2nSetRenameDuplicateSymbolsMode(on);
    EXPECT_EQ(name_at(0xffffffff81000010), "init");
    EXPECT_EQ(name_at(0xffffffff81000110), on ? "init#2" : "init");
    EXPECT_EQ(name_at(0xffffffffc0000010), "init");
  }
}

TEST_F(NamingTest, QualityAnyReturnsTheSymbolBeforeInTheSection) {
  // Find a byte between functions that no symbol contains.
  map(file_, bias);
  uint64_t gap = 0;
  for (const truth::NmSymbol& symbol : symbols_) {
    const uint64_t end = symbol.value + symbol.size + bias;
    if (symbol.size != 0 && ask(end).symbol == "<<.text>>") gap = end;
  }
  ASSERT_NE(gap, 0u);
  EXPECT_EQ(ask(gap).rc, A2N_NO_SYMBOL_FOUND);
  A2nSetSymbolQualityMode(A2N_QUALITY_ANY);
  const Answer answer = ask(gap);
  EXPECT_EQ(answer.rc, A2N_FLAKY_SYMBOL);
  EXPECT_LT(answer.data.sym_addr, gap);
  EXPECT_TRUE(truth::names_at(symbols_, answer.data.sym_addr - bias).contains(answer.symbol));
}

TEST_F(NamingTest, InfoNotesAreStoredOnRequest) {
  A2nSetErrorMessageMode(A2N_MESSAGES_INFO);
  map(file_, bias);
  ask(address("entry"));
  EXPECT_THAT(notes(), ElementsAre(HasSubstr("symbols from " + file_)));
  EXPECT_EQ(A2nGetNoteLevel(0), A2N_MESSAGES_INFO);
  EXPECT_EQ(A2nGetNoteLevel(1), A2N_MESSAGES_NONE);
  EXPECT_EQ(A2nGetSymbolFile(0), file_);
  EXPECT_EQ(A2nGetSymbolFile(1), nullptr);
}

TEST_F(NamingTest, TheEnvironmentOverridesTheProgram) {
  ::setenv("a2n_nsf_action", "null", 1);
  ::setenv("A2N_ERROR_MESSAGES", "loud", 1);
  A2nInit();
  A2nSetNoSymbolFoundAction(A2N_NSF_NSF);
  A2nAddModule(pid, 0x1000, 0x1000, "//anon", A2N_STAMP_ANON, 0);
  EXPECT_EQ(name_at(0x1010), "(null)");
  EXPECT_THAT(notes(), ElementsAre(HasSubstr("\"loud\"")));
  ::unsetenv("a2n_nsf_action");
  ::unsetenv("A2N_ERROR_MESSAGES");
}

TEST_F(NamingTest, WithoutValidationAChangedFileIsUsedWithANote) {
  for (const int validate : {1, 0}) {
    A2nInit();
    A2nSetSymbolValidationMode(validate);
    A2nSetModuleBuildId(file_.c_str(), "ffff");
    map(file_, bias);
    EXPECT_EQ(name_at(address("entry")), validate ? "NoSymbols" : "entry");
    EXPECT_THAT(notes(), ElementsAre(HasSubstr(validate ? "symbols not used" : "may be wrong")));
  }
}

}  // namespace
