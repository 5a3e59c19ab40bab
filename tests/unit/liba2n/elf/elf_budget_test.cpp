// SPDX-License-Identifier: MIT
// Small ELF files that expand to gigabytes: a note names the rejected file, and other files keep
// their symbols.
#include <gmock/gmock.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <fstream>

#include "a2n_fixture.h"
#include "constants.h"
#include "dwarf_builder.h"
#include "effort.h"
#include "elf_builder.h"
#include "heap.h"

namespace {

using test_support::HeapPeak;
using testing::Contains;
using testing::HasSubstr;
using namespace std::string_literals;

using test::bias;
using test::MiB;

class ElfBudget : public A2nTest {
 protected:
  void write(const std::string& bytes) {
    path_ = temporary("hostile.so");
    std::ofstream(path_, std::ios::binary) << bytes;
    A2nAddModuleEx(pid, bias, ElfBuilder::code_size, path_.c_str(), 0, ElfBuilder::code_address, 0);
    map(truth::fixture("libfull.so"), other_base);
  }

  // Another mapped file, which is valid, has its symbols.
  static void expect_others_are_named() {
    const auto symbols = truth::functions(truth::fixture("libfull.so"));
    expect_functions(symbols, other_base);
  }

  static constexpr uint64_t other_base = 0x7f5555500000;
  std::string path_;
};

std::vector<ElfBuilder::Entry> entries(uint32_t count, uint32_t step) {
  std::vector<ElfBuilder::Entry> all;
  for (uint32_t i = 0; i < count; ++i)
    all.push_back({1 + step * i, ElfBuilder::code_address + i % ElfBuilder::code_size});
  return all;
}

std::string one_name(size_t size) {
  return '\0' + std::string(size, 'n') + '\0';
}

TEST_F(ElfBudget, SymbolsWithTheSameNameShareItsMemory) {
  ElfBuilder elf;
  elf.symbols(entries(1500, 0), one_name(10'000));
  write(elf.bytes());
  const HeapPeak peak;
  EXPECT_EQ(name_at(bias + 100), std::string(10'000, 'n'));
  EXPECT_LT(peak.bytes(), 2 * MiB);
  EXPECT_THAT(notes(), testing::IsEmpty());
}

TEST_F(ElfBudget, ANameThatIsTooLongIsCut) {
  ElfBuilder elf;
  elf.symbols({{1, ElfBuilder::code_address}}, one_name(40'000));
  write(elf.bytes());
  EXPECT_EQ(name_at(bias + 100), std::string(32'768, 'n'));
}

TEST_F(ElfBudget, SymbolsWithSuffixesOfANameShareItsMemory) {
  ElfBuilder elf;
  elf.symbols(entries(1500, 3), one_name(10'000));
  write(elf.bytes());
  const HeapPeak peak;
  EXPECT_EQ(name_at(bias + 100), std::string(10'000 - 300, 'n'));
  EXPECT_LT(peak.bytes(), 2 * MiB);
}

TEST_F(ElfBudget, TooManySymbolsWithOneLongNameAreRefused) {
  ElfBuilder elf;
  elf.symbols(entries(66'000, 0), one_name(32'000));
  write(elf.bytes());
  const HeapPeak peak;
  EXPECT_EQ(ask(bias + 100).rc, A2N_NO_SYMBOLS);
  EXPECT_LT(peak.bytes(), 32 * MiB);
  EXPECT_THAT(notes(), Contains(testing::AllOf(HasSubstr(path_), HasSubstr("share long names"))));
  expect_others_are_named();
}

size_t frames_at(uint32_t pid, uint64_t address) {
  A2N_FRAME found[8];
  size_t count = 0;
  A2nGetFramesAt(pid, address, 0, found, 8, &count);
  return count;
}

TEST_F(ElfBudget, InlinedFunctionsOfBuiltFilesAreRead) {
  write(ElfBuilder::inlined_on_one_list(1, 4));
  EXPECT_EQ(frames_at(pid, bias + 2), 2u);
  EXPECT_EQ(frames_at(pid, bias + 1), 1u);
}

TEST_F(ElfBudget, SectionsWithoutDebugNamesAreIgnored) {
  ElfBuilder elf;
  elf.symbols({{1, ElfBuilder::code_address}}, one_name(4));
  for (const char* name : {"", ".", ".z", "debug_info"}) elf.section(name, SHT_PROGBITS, "x");
  write(elf.bytes());
  EXPECT_EQ(frames_at(pid, bias + 2), 1u);
  EXPECT_EQ(name_at(bias + 2), "nnnn");
}

TEST_F(ElfBudget, TooManyInlinedFunctionsWithOneRangeListAreRefused) {
  write(ElfBuilder::inlined_on_one_list(60'000, 20'000));
  const HeapPeak peak;
  EXPECT_EQ(frames_at(pid, bias + 2), 1u);
  EXPECT_LT(peak.bytes(), 64 * MiB);
  EXPECT_THAT(notes(), Contains(testing::AllOf(HasSubstr(path_),
                                               HasSubstr("debug information is not used"))));
  EXPECT_EQ(name_at(bias + 2), "nnnn");
  expect_others_are_named();
}

// Nested entries without DW_AT_sibling: each must be read only once.
TEST_F(ElfBudget, DeeplyNestedEntriesAreReadOnce) {
  using E = ElfBuilder;
  // compile_unit and lexical_block with children; variable without children.
  const char abbreviations[] = "\x01\x11\x01\x00\x00\x02\x0b\x01\x00\x00\x03\x34\x00\x00\x00";
  std::string entries = "\x01" + std::string(250, '\x02') + std::string(200'000, '\x03');
  entries += std::string(251, '\0');
  const std::string info = E::raw(static_cast<uint32_t>(7 + entries.size())) + E::raw(uint16_t{4}) +
                           E::raw(uint32_t{0}) + '\x08' + entries;
  E elf;
  elf.symbols({{1, E::code_address}}, one_name(4));
  elf.section(".debug_abbrev", SHT_PROGBITS, std::string(abbreviations, sizeof abbreviations));
  elf.section(".debug_info", SHT_PROGBITS, info);
  write(elf.bytes());
  const test_support::Effort effort;
  EXPECT_EQ(frames_at(pid, bias + 2), 1u);
  EXPECT_LT(effort.spent(), 5);
  EXPECT_THAT(notes(), testing::IsEmpty());
}

// Units that overlap in one long abbreviation table: parsing it for each unit would take minutes.
TEST_F(ElfBudget, SharedAbbreviationTablesAreLimited) {
  using E = ElfBuilder;
  std::string abbreviations, info;
  for (int code = 1; code < 100'000; ++code) abbreviations += std::string("\x7f\x34\0\0\0", 5);
  for (uint32_t unit = 0; unit < 50'000; ++unit)
    info += E::raw(uint32_t{8}) + E::raw(uint16_t{4}) + E::raw(5 * unit) + '\x08' + '\x7f';
  E elf;
  elf.symbols({{1, E::code_address}}, one_name(4));
  elf.section(".debug_abbrev", SHT_PROGBITS, abbreviations);
  elf.section(".debug_info", SHT_PROGBITS, info);
  write(elf.bytes());
  const test_support::Effort effort;
  EXPECT_EQ(frames_at(pid, bias + 2), 1u);
  EXPECT_LT(effort.spent(), 100);
  EXPECT_THAT(notes(), Contains(testing::AllOf(HasSubstr(path_), HasSubstr("read too often"))));
}

// One directory with a long name and many files in it, each with a line.
TEST_F(ElfBudget, TooManyFilesInADirectoryWithALongNameAreRefused) {
  using E = ElfBuilder;
  std::string tables = std::string(100'000, 'd') + '\0' + '\0';
  for (int i = 0; i < 20'000; ++i) tables += std::string("f\0\1\0\0", 5);
  tables += '\0';
  const std::string opcodes = std::string("\1\1\1\xfb\x0e\x0d", 6) + "\0\1\1\1\1\0\0\0\1\0\0\1"s;
  const std::string head = opcodes + tables;
  std::string program = "\0\x09\x02"s + E::raw(E::code_address);
  for (uint32_t file = 1; file < 20'000; ++file)
    program += '\4' + std::string{static_cast<char>(file % 128 | 128)} +
               static_cast<char>(file / 128 | 128) + '\0' + '\x21';
  program += "\0\1\1"s;
  const std::string line = E::raw(static_cast<uint32_t>(6 + head.size() + program.size())) +
                           E::raw(uint16_t{4}) + E::raw(static_cast<uint32_t>(head.size())) + head +
                           program;
  const char abbreviations[] = "\x01\x11\x00\x10\x17\x00\x00";
  const std::string info = E::raw(uint32_t{12}) + E::raw(uint16_t{4}) + E::raw(uint32_t{0}) +
                           '\x08' + '\x01' + E::raw(uint32_t{0});
  E elf;
  elf.symbols({{1, E::code_address}}, one_name(4));
  elf.section(".debug_abbrev", SHT_PROGBITS, std::string(abbreviations, sizeof abbreviations));
  elf.section(".debug_info", SHT_PROGBITS, info);
  elf.section(".debug_line", SHT_PROGBITS, line);
  write(elf.bytes());
  const HeapPeak peak;
  EXPECT_EQ(frames_at(pid, bias + 2), 1u);
  EXPECT_LT(peak.bytes(), 128 * MiB);
  EXPECT_THAT(notes(), Contains(testing::AllOf(HasSubstr(path_), HasSubstr("read too often"))));
}

TEST_F(ElfBudget, DebugSectionsBeyondTheUncompressedLimitAreRefused) {
  using E = ElfBuilder;
  E elf;
  elf.symbols({{1, E::code_address}}, one_name(4));
  Elf64_Chdr head{};
  head.ch_type = ELFCOMPRESS_ZLIB;
  head.ch_size = uint64_t{1} << 32;
  head.ch_addralign = 1;
  elf.section(".debug_info", SHT_PROGBITS, E::raw(head) + std::string(64, 'x'), 0, SHF_COMPRESSED);
  write(elf.bytes());
  EXPECT_EQ(frames_at(pid, bias + 2), 1u);
  EXPECT_THAT(notes(), Contains(testing::AllOf(HasSubstr(path_), HasSubstr("unpacked"))));
  EXPECT_EQ(name_at(bias + 2), "nnnn");
}

TEST_F(ElfBudget, ASparseFileIsRefused) {
  ElfBuilder elf;
  elf.symbols({{1, ElfBuilder::code_address}}, one_name(4));
  write(elf.bytes());
  ASSERT_EQ(::truncate(path_.c_str(), 1ll << 40), 0);
  EXPECT_EQ(ask(bias + 2).rc, A2N_NO_SYMBOLS);
  EXPECT_THAT(notes(), Contains(testing::AllOf(HasSubstr(path_), HasSubstr("are stored"))));
  expect_others_are_named();
}

// Every note section is searched for a build-id; these overlap and are as long as the file.
TEST_F(ElfBudget, OverlappingNoteSectionsAreLimited) {
  using E = ElfBuilder;
  E elf;
  elf.symbols({{1, E::code_address}}, one_name(4));
  std::string bytes = elf.bytes();
  Elf64_Ehdr header;
  std::memcpy(&header, bytes.data(), sizeof header);
  std::vector<Elf64_Shdr> sections(header.e_shnum);
  std::memcpy(sections.data(), bytes.data() + header.e_shoff, sections.size() * sizeof(Elf64_Shdr));
  for (uint64_t i = 0; i < 4000; ++i) {
    Elf64_Shdr note{};
    note.sh_type = SHT_NOTE;
    note.sh_offset = 0x1000 + 4 * i;
    note.sh_size = MiB;
    note.sh_addralign = 4;
    sections.push_back(note);
  }
  bytes.resize(2 * MiB);
  header.e_shoff = bytes.size();
  header.e_shnum = static_cast<uint16_t>(sections.size());
  std::memcpy(bytes.data(), &header, sizeof header);
  for (const Elf64_Shdr& section : sections) bytes += E::raw(section);
  write(bytes);
  const test_support::Effort effort;
  EXPECT_EQ(name_at(bias + 2), "nnnn");
  EXPECT_LT(effort.spent(), 5);
}

// ---- small DWARF sections that could need much time or memory ----

// A unit of DWARF 4; abbreviations: the offset of its table; entry: the bytes of its entries.
std::string unit_of(uint32_t abbreviations, const std::string& entry) {
  using E = ElfBuilder;
  return E::raw(static_cast<uint32_t>(7 + entry.size())) + E::raw(uint16_t{4}) +
         E::raw(abbreviations) + '\x08' + entry;
}

// The bytes of unit, repeated count times.
std::string units_of(int count, const std::string& unit) {
  std::string all;
  for (int i = 0; i < count; ++i) all += unit;
  return all;
}

class DwarfBudget : public ElfBudget {
 protected:
  // The effort of a lookup of lines in a file with these sections and a symbol.
  double effort_of(const std::vector<std::pair<const char*, std::string>>& sections) {
    ElfBuilder elf;
    elf.symbols({{1, ElfBuilder::code_address}}, one_name(4));
    for (const auto& [name, bytes] : sections) elf.section(name, SHT_PROGBITS, bytes);
    write(elf.bytes());
    const test_support::Effort effort;
    EXPECT_EQ(frames_at(pid, bias + 2), 1u);
    return effort.spent();
  }
  static constexpr double max_effort = 100;  // without the limits, each lookup would take minutes
};

TEST_F(DwarfBudget, StringsWithoutTerminatorAreNotSearchedForEachUnit) {
  const std::string abbreviations = "\x01\x11\0\x1b\x0e\0\0\0"s;  // DW_AT_comp_dir, DW_FORM_strp
  EXPECT_LT(effort_of({{".debug_abbrev", abbreviations},
                       {".debug_info", units_of(100'000, unit_of(0, "\x01\0\0\0\0"s))},
                       {".debug_str", std::string(16 * MiB, 'a')}}),
            max_effort);
}

TEST_F(DwarfBudget, InvalidLineTableHeadersAreCounted) {
  std::string files;
  while (files.size() < MiB) files += "a\0\1\1\1"s;  // a list without terminator
  const std::string head = "\1\1\1\xfb\x0e\x01"s + '\0' + files;
  const std::string lines = ElfBuilder::raw(static_cast<uint32_t>(6 + head.size())) +
                            ElfBuilder::raw(uint16_t{4}) + ElfBuilder::raw(uint32_t{6}) + head;
  const std::string abbreviations = "\x01\x11\0\x10\x17\0\0\0"s;  // DW_AT_stmt_list
  EXPECT_LT(effort_of({{".debug_abbrev", abbreviations},
                       {".debug_info", units_of(100'000, unit_of(0, "\x01\0\0\0\0"s))},
                       {".debug_line", lines}}),
            max_effort);
  EXPECT_THAT(notes(), Contains(testing::AllOf(HasSubstr(path_), HasSubstr("read too often"))));
}

TEST_F(DwarfBudget, AttributesBeyondTheEndOfAUnitAreNotRead) {
  std::string abbreviations = "\x01\x11\0"s;
  for (int i = 0; i < 500'000; ++i) abbreviations += "\x0f\x0f"s;  // unused DW_AT, DW_FORM_udata
  EXPECT_LT(effort_of({{".debug_abbrev", abbreviations + "\0\0\0"s},
                       {".debug_info", units_of(100'000, unit_of(0, "\x01"s))}}),
            max_effort);
}

TEST_F(DwarfBudget, AttributesOfSizeZeroTakeNoTime) {
  std::string abbreviations = "\x01\x11\1\0\0\x02\x34\0"s;
  for (int i = 0; i < 500'000; ++i) abbreviations += "\x03\x19"s;  // DW_AT_name, flag_present
  EXPECT_LT(effort_of({{".debug_abbrev", abbreviations + "\0\0\0"s},
                       {".debug_info", unit_of(0, '\x01' + std::string(100'000, '\x02') + '\0')}}),
            max_effort);
}

TEST_F(DwarfBudget, OverlappingAbbreviationTablesAreNotAllCached) {
  std::string info;
  for (uint32_t i = 0; i < 40; ++i) info += unit_of(i, "\x01"s);
  const HeapPeak peak;
  EXPECT_LT(effort_of({{".debug_abbrev", std::string(MiB, '\x0f')}, {".debug_info", info}}),
            max_effort);
  EXPECT_LT(peak.bytes(), 96 * MiB);
}

TEST_F(DwarfBudget, ALineSequenceWithTooManyRowsIsRefused) {
  const std::string row = "!";  // special opcode: advances the line and the address by 1
  const std::string lines =
      dwarf_builder::sequence(ElfBuilder::code_address, units_of(5 * MiB, row));
  const HeapPeak peak;
  EXPECT_LT(effort_of({{".debug_abbrev", "\x01\x11\0\x10\x17\0\0\0"s},
                       {".debug_info", unit_of(0, "\x01\0\0\0\0"s)},
                       {".debug_line", dwarf_builder::lines4(lines)}}),
            max_effort);
  EXPECT_LT(peak.bytes(), (4 + 24 * 5 + 1) * MiB);
  EXPECT_THAT(notes(), Contains(testing::AllOf(HasSubstr(path_), HasSubstr("take more than"))));
}

// ---- sections that share bytes of the file; libelf would keep a copy for each ----

class OverlappingSections : public ElfBudget {
 protected:
  // Bytes. All sections together have 2.4 GiB. It includes memory that a sanitizer retains from
  // earlier tests.
  static constexpr uint64_t max_memory = 1536 * MiB;

  // The peak memory in bytes of a child process that does a lookup in the file.
  static uint64_t memory_of_lookup() {
    const pid_t child = ::fork();
    if (child == 0) {
      frames_at(pid, bias + 2);
      ::_exit(0);
    }
    rusage used{};
    int status = -1;
    EXPECT_EQ(::wait4(child, &status, 0, &used), child);
    EXPECT_EQ(status, 0);
    return static_cast<uint64_t>(used.ru_maxrss) * 1024;
  }

  // Writes a file with 300 sections with this name and type, all at the same 8 MiB of the file.
  void write_with(const char* name, uint32_t type, bool symbols = true) {
    ElfBuilder elf;
    if (symbols) elf.symbols({{1, ElfBuilder::code_address}}, one_name(4));
    elf.section(name, type, std::string(8 * MiB, '\0'));
    std::string bytes = elf.bytes();
    Elf64_Ehdr header;
    std::memcpy(&header, bytes.data(), sizeof header);
    std::vector<Elf64_Shdr> sections(header.e_shnum);
    std::memcpy(sections.data(), bytes.data() + header.e_shoff,
                sections.size() * sizeof(Elf64_Shdr));
    for (const Elf64_Shdr& section : std::vector(sections))
      if (section.sh_size == 8 * MiB) sections.insert(sections.end(), 300, section);
    header.e_shoff = bytes.size();
    header.e_shnum = static_cast<uint16_t>(sections.size());
    std::memcpy(bytes.data(), &header, sizeof header);
    bytes.append(reinterpret_cast<const char*>(sections.data()),
                 sections.size() * sizeof(Elf64_Shdr));
    write(bytes);
  }
};

TEST_F(OverlappingSections, AreNotReadForTheirUncompressedSize) {
  write_with(".zdebug_loc", SHT_PROGBITS);
  EXPECT_LT(memory_of_lookup(), max_memory);
  EXPECT_EQ(frames_at(pid, bias + 2), 1u);
  EXPECT_THAT(notes(), Contains(testing::AllOf(HasSubstr(path_), HasSubstr("packed it has"))));
  EXPECT_EQ(name_at(bias + 2), "nnnn");
}

TEST_F(OverlappingSections, AreNotReadIfTheyAreTooLargeForADebugLink) {
  write_with(".gnu_debuglink", SHT_PROGBITS);
  EXPECT_LT(memory_of_lookup(), max_memory);
  EXPECT_EQ(name_at(bias + 2), "nnnn");
}

TEST_F(OverlappingSections, AreNotReadAsSymbolTablesWithoutStringTable) {
  write_with(".symtab", SHT_SYMTAB, false);
  EXPECT_LT(memory_of_lookup(), max_memory);
  expect_others_are_named();
}

}  // namespace
