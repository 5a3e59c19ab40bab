// SPDX-License-Identifier: MIT
// Symbols of real ELF files through the C API, compared with nm and readelf.
#include <gmock/gmock.h>

#include <algorithm>
#include <fstream>

#include "a2n_fixture.h"
#include "constants.h"

namespace {

using testing::AnyOf;
using truth::fixture;

using test::bias;

class ElfSymbols : public A2nTest {};

TEST_F(ElfSymbols, EveryFunctionOfAPositionIndependentProgramIsFound) {
  map(fixture("pie"), bias);
  expect_functions(truth::functions(fixture("pie")), bias);
}

TEST_F(ElfSymbols, EveryFunctionOfAProgramAtFixedAddressesIsFound) {
  map(fixture("fixed"), 0);
  expect_functions(truth::functions(fixture("fixed")), 0);
}

TEST_F(ElfSymbols, EveryFunctionOfASharedLibraryIsFound) {
  map(fixture("libfull.so"), bias);
  expect_functions(truth::functions(fixture("libfull.so")), bias);
}

TEST_F(ElfSymbols, AnExecutableSegmentAtOffsetZeroIsTranslated) {
  const auto loads = truth::loads(fixture("liboneload.so"));
  ASSERT_TRUE(loads[0].executable && loads[0].offset == 0);
  map(fixture("liboneload.so"), bias);
  expect_functions(truth::functions(fixture("liboneload.so")), bias);
}

TEST_F(ElfSymbols, EachExecutableSegmentIsTranslatedByItsOwnHeader) {
  const auto loads = truth::loads(fixture("two_segments"));
  ASSERT_GE(
      std::count_if(loads.begin(), loads.end(), [](const auto& load) { return load.executable; }),
      2);
  map(fixture("two_segments"), 0);
  const auto symbols = truth::functions(fixture("two_segments"));
  expect_functions(symbols, 0);
  EXPECT_EQ(truth::value_of(symbols, "second_segment_function"), 0x8000000u);
  EXPECT_EQ(name_at(0x8000000), "second_segment_function");
}

TEST_F(ElfSymbols, WithoutAnOffsetTheOnlyExecutableSegmentIsUsed) {
  map(fixture("libfull.so"), bias, fixture("libfull.so"), false);
  expect_functions(truth::functions(fixture("libfull.so")), bias);
}

TEST_F(ElfSymbols, WithoutAnOffsetTheLengthSelectsTheSegment) {
  map(fixture("two_segments"), 0, fixture("two_segments"), false);
  expect_functions(truth::functions(fixture("two_segments")), 0);
}

TEST_F(ElfSymbols, WithoutAnOffsetALengthThatMatchesNoSegmentGivesNoSymbol) {
  const std::string file = fixture("two_segments");
  ASSERT_EQ(A2nAddModule(pid, 0x8000000, 2 * page, file.c_str(), 0, 0), A2N_SUCCESS);
  EXPECT_EQ(ask(0x8000000).rc, A2N_NO_SYMBOL_FOUND);
  EXPECT_EQ(name_at(0x8000000), "NoSymbolFound");
}

TEST_F(ElfSymbols, TheRemainingPartsOfAMappingAreTranslated) {
  const std::string file = fixture("libfull.so");
  map(file, bias);
  const auto symbols = truth::functions(file);
  const uint64_t large = truth::value_of(symbols, "asm_pages") + bias;
  // Another mapping replaces a page in the middle of the function.
  const uint64_t cover = up(large) + page;
  ASSERT_EQ(A2nAddModule(pid, cover, page, "//anon", A2N_STAMP_ANON, 0), A2N_SUCCESS);
  for (const uint64_t at : {large, cover - 1, cover + page, large + 12288}) {
    const Answer answer = ask(at);
    EXPECT_EQ(answer.symbol, "asm_pages");
    EXPECT_EQ(answer.data.sym_addr, large);
    EXPECT_EQ(answer.module, file);
    EXPECT_EQ(at < cover ? answer.data.mod_addr + answer.data.mod_length : answer.data.mod_addr,
              at < cover ? cover : cover + page);
  }
  EXPECT_EQ(ask(cover).module, "//anon");
}

TEST_F(ElfSymbols, AMappingOfTheWholeFileIsTranslated) {
  const std::string file = fixture("libfull.so");
  for (const truth::Load& load : truth::loads(file)) {
    if (!load.executable) continue;
    ASSERT_EQ(load.offset, load.vaddr);
  }
  ASSERT_EQ(A2nAddModule(pid, bias, 0x20000, file.c_str(), 0, 0), A2N_SUCCESS);
  expect_functions(truth::functions(file), bias);
}

TEST_F(ElfSymbols, AStrippedLibraryHasItsExports) {
  const std::string file = fixture("libdynsym.so");
  map(file, bias);
  const auto symbols = truth::functions(file, true);
  expect_functions(symbols, bias);
  const auto all = truth::functions(fixture("libnoid.so"));
  const Answer local = ask(truth::value_of(all, "local_helper") + bias);
  EXPECT_EQ(local.rc, A2N_NO_SYMBOL_FOUND);
  EXPECT_EQ(local.symbol, "<<.text>>");
  const Answer exported = ask(truth::value_of(all, "plain_function") + bias);
  EXPECT_EQ(exported.rc, A2N_SUCCESS);
  EXPECT_EQ(exported.data.flags, static_cast<uint32_t>(A2N_FLAG_EXPORTS | A2N_FLAG_MODULE_64));
}

TEST_F(ElfSymbols, AnExportWithoutSizeIsUncertain) {
  map(fixture("libdynsym.so"), bias);
  const uint64_t value =
      truth::value_of(truth::functions(fixture("libdynsym.so"), true), "asm_no_size");
  EXPECT_EQ(ask(value + bias).rc, A2N_FLAKY_SYMBOL);
  EXPECT_EQ(ask(value + bias).symbol, "asm_no_size");
}

TEST_F(ElfSymbols, AliasesAreChosenByBindingThenName) {
  map(fixture("libfull.so"), bias);
  const auto symbols = truth::functions(fixture("libfull.so"));
  EXPECT_EQ(name_at(truth::value_of(symbols, "weak_name_of_plain_function") + bias),
            "plain_function");
  EXPECT_EQ(name_at(truth::value_of(symbols, "choose") + bias), "chosen");
  EXPECT_EQ(name_at(truth::value_of(symbols, "weak_function") + bias), "weak_function");
}

TEST_F(ElfSymbols, AssemblerLabelsExtendToTheNextSymbolButNotIntoSizedFunctions) {
  map(fixture("libfull.so"), bias);
  const auto symbols = truth::functions(fixture("libfull.so"));
  const uint64_t no_size = truth::value_of(symbols, "asm_no_size");
  const uint64_t sized = truth::value_of(symbols, "asm_sized");
  EXPECT_EQ(name_at(sized - 1 + bias), "asm_no_size");
  EXPECT_EQ(ask(no_size + bias).data.sym_length, sized - no_size);
  EXPECT_EQ(name_at(truth::value_of(symbols, "asm_label_inside") + bias), "asm_sized");
  const uint64_t last = truth::value_of(symbols, "asm_last_local");
  EXPECT_EQ(ask(last + bias).data.sym_length, truth::value_of(symbols, "asm_after") - last);
}

TEST_F(ElfSymbols, EveryByteOfAProcedureLinkageTableIsPlt) {
  for (const char* name : {"pie", "libfull.so", "libdynsym.so"}) {
    A2nInit();
    map(fixture(name), bias);
    int tables = 0;
    for (const truth::NamedSection& section : truth::code_sections(fixture(name))) {
      if (section.name.find(".plt") != 0) continue;
      ++tables;
      for (uint64_t at = section.address; at < section.address + section.size; ++at) {
        const Answer answer = ask(at + bias);
        ASSERT_EQ(answer.symbol, "<plt>") << name << section.name;
        ASSERT_EQ(answer.rc, A2N_SUCCESS);
        ASSERT_EQ(answer.data.sym_addr, section.address + bias);
        ASSERT_EQ(answer.data.sym_length, section.size);
      }
    }
    EXPECT_GE(tables, 2) << name;
  }
}

TEST_F(ElfSymbols, CppNamesAreDemangledOnlyOnRequest) {
  const auto symbols = truth::functions(fixture("libfull.so"));
  const uint64_t area = truth::value_of(symbols, "_ZNK4demo5Shape4areaEi") + bias;
  map(fixture("libfull.so"), bias);
  EXPECT_EQ(name_at(area), "_ZNK4demo5Shape4areaEi");
  A2nInit();
  A2nSetDemangleCppNamesMode(1);
  map(fixture("libfull.so"), bias);
  EXPECT_EQ(name_at(area), "demo::Shape::area(int) const");
  EXPECT_EQ(name_at(truth::value_of(symbols, "_ZN4demo5twiceIiEET_S1_") + bias),
            "int demo::twice<int>(int)");
  EXPECT_EQ(name_at(truth::value_of(symbols, "plain_function") + bias), "plain_function");
}

TEST_F(ElfSymbols, EqualNamesHaveEqualPointers) {
  map(fixture("libfull.so"), bias);
  map(fixture("libfull.so"), bias + 0x1000000);
  const uint64_t value = truth::value_of(truth::functions(fixture("libfull.so")), "plain_function");
  const SYMDATA first = ask(value + bias).data;
  const SYMDATA second = ask(value + bias + 0x1000000 + 3).data;
  EXPECT_EQ(first.sym_name, second.sym_name);
  EXPECT_EQ(first.mod_name, second.mod_name);
  EXPECT_EQ(first.sym_addr + 0x1000000, second.sym_addr);
}

// Writes a copy of the file without section headers, as aggressive strip tools create it.
std::string without_sections(const std::string& file, const std::string& to) {
  std::ifstream in(file, std::ios::binary);
  std::string bytes((std::istreambuf_iterator<char>(in)), {});
  std::fill_n(bytes.begin() + 0x28, 8, '\0');  // e_shoff
  std::fill_n(bytes.begin() + 0x3a, 6, '\0');  // e_shentsize, e_shnum, e_shstrndx
  std::ofstream(to, std::ios::binary) << bytes;
  return to;
}

TEST_F(ElfSymbols, WithoutSectionHeadersExportsAreFoundByTheDynamicSegment) {
  for (const char* name :
       {"libfull.so", "libgnuhash.so"}) {  // with DT_HASH, with DT_GNU_HASH alone
    A2nInit();
    const std::string file =
        without_sections(fixture(name), temporary(std::string(name) + ".bare"));
    map(file, bias);
    const auto symbols = truth::functions(fixture(name), true);
    expect_functions(symbols, bias);
    EXPECT_EQ(ask(truth::value_of(symbols, "entry") + bias).data.flags,
              static_cast<uint32_t>(A2N_FLAG_EXPORTS | A2N_FLAG_MODULE_64));
  }
}

TEST_F(ElfSymbols, TheNameOfAMissingSymbolDependsOnTheSetting) {
  const uint64_t value =
      truth::value_of(truth::functions(fixture("libnoid.so")), "local_helper") + bias;
  const struct {
    int action;
    const char* symbol;
  } cases[] = {
      {A2N_NSF_NULL, "(null)"}, {A2N_NSF_NSF, "NoSymbolFound"}, {A2N_NSF_SECTION, "<<.text>>"}};
  for (const auto& form : cases) {
    A2nInit();
    A2nSetNoSymbolFoundAction(form.action);
    map(fixture("libdynsym.so"), bias);
    const Answer answer = ask(value);
    EXPECT_EQ(answer.rc, A2N_NO_SYMBOL_FOUND);
    EXPECT_EQ(answer.symbol, form.symbol);
    EXPECT_EQ(answer.module, fixture("libdynsym.so"));
    const bool by_section = form.action == A2N_NSF_SECTION;
    EXPECT_EQ(answer.data.sym_addr == answer.data.mod_addr, !by_section);
    EXPECT_EQ(answer.data.sym_length == answer.data.mod_length, !by_section);
  }
}

}  // namespace
