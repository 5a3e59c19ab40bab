// SPDX-License-Identifier: MIT
// Entries of procedure linkage tables have the addresses and names that objdump shows.
#include "elf/plt_entries.h"

#include <gmock/gmock.h>

#include <fstream>
#include <sstream>

#include "a2n_fixture.h"
#include "base/budgets.h"
#include "constants.h"
#include "elf_builder.h"

namespace {

using test::bias;

class PltEntries : public A2nTest {
 protected:
  struct Entry {
    uint64_t start;
    std::string name;
  };
  // "0000000000001040 <puts@plt>:"
  static std::vector<Entry> of_objdump(const std::string& file) {
    std::vector<Entry> entries;
    std::istringstream lines(truth::run("objdump -d '" + file + "'"));
    for (std::string line; std::getline(lines, line);) {
      const size_t open = line.find(" <");
      if (open == line.npos || !line.ends_with("@plt>:")) continue;
      entries.push_back(
          {std::stoull(line, nullptr, 16), line.substr(open + 2, line.size() - open - 2 - 6)});
    }
    return entries;
  }
  static std::string plt_name(uint64_t address) {
    const char* name = A2nGetPltNameAt(pid, address, 0);
    return name ? name : "";
  }
};

TEST_F(PltEntries, AreThoseOfObjdump) {
  const struct {
    const char* file;
    bool pie;
    std::vector<const char*> sections;
  } kinds[] = {{"pie", true, {".plt", ".plt.sec", ".plt.got"}},
               {"fixed", false, {".plt"}},
               {"now", true, {".plt", ".plt.got"}},
               {"libfull.so", true, {".plt"}}};
  for (const auto& [name, pie, sections] : kinds) {
    SCOPED_TRACE(name);
    A2nInit();
    const std::string file = truth::fixture(name);
    std::set<std::string> present;
    for (const auto& section : truth::code_sections(file)) present.insert(section.name);
    for (const char* section : sections) EXPECT_TRUE(present.contains(section)) << section;
    const uint64_t moved = pie ? bias : 0;
    map(file, moved);
    const auto expected = of_objdump(file);
    ASSERT_GE(expected.size(), 2u);
    const auto functions = truth::functions(file);
    for (const Entry& entry : expected) {
      const std::string found = plt_name(moved + entry.start);
      // An indirect function has no dynamic symbol.
      constexpr std::string_view absolute = "*ABS*+";
      if (entry.name.starts_with(absolute)) {
        const auto names = truth::names_at(
            functions, std::stoull(entry.name.substr(absolute.size()), nullptr, 16));
        EXPECT_TRUE(names.contains(found)) << entry.name << ": " << found;
      } else {
        EXPECT_EQ(found, entry.name);
      }
      EXPECT_EQ(plt_name(moved + entry.start + 7), found);
    }
    const auto opened = a2n::ElfFile::open(file);
    ASSERT_TRUE(opened);
    EXPECT_EQ(a2n::read_plt_entries(*opened).size(), expected.size());
    EXPECT_EQ(plt_name(moved + truth::value_of(functions, "plain_function")), "");
  }
}

TEST_F(PltEntries, ACopyWithoutSymbolsHasThem) {
  map(truth::fixture("libid.so"), bias);
  const auto expected = of_objdump(truth::fixture("libfull.so"));
  for (const Entry& entry : expected)
    if (!entry.name.starts_with('*')) {
      EXPECT_EQ(plt_name(bias + entry.start), entry.name);
    }
}

TEST_F(PltEntries, AFileThatChangedHasNone) {
  const std::string file = temporary("changed.so");
  std::filesystem::copy_file(truth::fixture("libfull.so"), file);
  map(file, bias);
  const auto expected = of_objdump(file);
  ASSERT_EQ(ask(bias + expected.front().start).symbol, "<plt>");
  std::filesystem::copy_file(truth::fixture("libother.so"), file,
                             std::filesystem::copy_options::overwrite_existing);
  EXPECT_EQ(plt_name(bias + expected.front().start), "");
}

// All jumps lead through one slot to a function with a name of 32 KB.
TEST_F(PltEntries, NamesThatAddUpToMuchMoreThanTheFileAreNotKept) {
  constexpr size_t jumps = ElfBuilder::code_size / 6;
  constexpr size_t name_size = 32000;
  constexpr uint64_t slot = 0x9000;
  ElfBuilder elf;
  std::string code;
  for (size_t i = 0; i < jumps; ++i) {
    const auto after = static_cast<int64_t>(ElfBuilder::code_address + 6 * (i + 1));
    code += "\xff\x25" + ElfBuilder::raw(static_cast<int32_t>(static_cast<int64_t>(slot) - after));
  }
  elf.code(code);
  elf.section(".plt", SHT_PROGBITS, std::string(ElfBuilder::code_size, '\0'), 0,
              SHF_ALLOC | SHF_EXECINSTR, ElfBuilder::code_address);
  const uint32_t names =
      elf.section(".dynstr", SHT_STRTAB, '\0' + std::string(name_size, 'n') + '\0');
  Elf64_Sym symbol{};
  symbol.st_name = 1;
  const uint32_t symbols = elf.section(
      ".dynsym", SHT_DYNSYM, ElfBuilder::raw(Elf64_Sym{}) + ElfBuilder::raw(symbol), names);
  const Elf64_Rela relocation{slot, ELF64_R_INFO(1, R_X86_64_JUMP_SLOT), 0};
  elf.section(".rela.plt", SHT_RELA, ElfBuilder::raw(relocation), symbols, SHF_ALLOC);
  const std::string file = temporary("names.so");
  std::ofstream(file, std::ios::binary) << elf.bytes();
  const auto opened = a2n::ElfFile::open(file);
  ASSERT_TRUE(opened);
  const auto entries = a2n::read_plt_entries(*opened);
  uint64_t bytes = 0;
  for (const a2n::PltEntry& entry : entries) bytes += entry.name.size();
  EXPECT_GT(bytes, name_size);
  EXPECT_LE(bytes, a2n::budgets::linkage_tables.of(opened->stored()));
  EXPECT_LT(entries.size(), jumps * 6 / 16);
}

// Later ones are ignored, so that many relocations of a slot with many jumps take linear time.
TEST_F(PltEntries, TheFirstRelocationOfASlotNamesItsJumps) {
  constexpr uint64_t slot = 0x9000;
  ElfBuilder elf;
  elf.code("\xff\x25" +
           ElfBuilder::raw(static_cast<int32_t>(slot - (ElfBuilder::code_address + 6))));
  elf.section(".plt", SHT_PROGBITS, std::string(ElfBuilder::code_size, '\0'), 0,
              SHF_ALLOC | SHF_EXECINSTR, ElfBuilder::code_address);
  const uint32_t names = elf.section(".dynstr", SHT_STRTAB, std::string("\0one\0two\0", 9));
  Elf64_Sym one{};
  one.st_name = 1;
  Elf64_Sym two{};
  two.st_name = 5;
  const uint32_t symbols = elf.section(
      ".dynsym", SHT_DYNSYM,
      ElfBuilder::raw(Elf64_Sym{}) + ElfBuilder::raw(one) + ElfBuilder::raw(two), names);
  std::string relocations;
  for (const uint64_t symbol : {0, 1, 2})
    relocations += ElfBuilder::raw(Elf64_Rela{slot, ELF64_R_INFO(symbol, R_X86_64_JUMP_SLOT), 0});
  elf.section(".rela.plt", SHT_RELA, relocations, symbols, SHF_ALLOC);
  const std::string file = temporary("twice.so");
  std::ofstream(file, std::ios::binary) << elf.bytes();
  const auto opened = a2n::ElfFile::open(file);
  ASSERT_TRUE(opened);
  const auto entries = a2n::read_plt_entries(*opened);
  ASSERT_EQ(entries.size(), 1u);
  EXPECT_EQ(entries.front().name, "one");
}

}  // namespace
