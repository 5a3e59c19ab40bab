// SPDX-License-Identifier: MIT
// Functions without symbols: their bounds come from the unwind table, which may be hostile.
#include <gmock/gmock.h>
#include <unistd.h>

#include <cstring>
#include <fstream>
#include <map>
#include <random>

#include "a2n_fixture.h"
#include "base/budgets.h"
#include "constants.h"
#include "elf/elf_file.h"
#include "elf/unwind_functions.h"
#include "elf_builder.h"
#include "heap.h"

namespace {

using test_support::HeapPeak;
using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;
using truth::fixture;

using test::bias;
constexpr uint64_t code = ElfBuilder::code_address;
using test::MiB;

std::string name_of(const std::string& file, uint64_t start) {
  char text[32];
  std::snprintf(text, sizeof text, "+0x%lx]", start);
  return "[" + file.substr(file.rfind('/') + 1) + text;
}

std::string read(const std::string& file) {
  std::ifstream in(file, std::ios::binary);
  return std::string((std::istreambuf_iterator<char>(in)), {});
}

class UnwindFunctions : public A2nTest {
 protected:
  UnwindFunctions() { A2nSetNoSymbolFoundAction(A2N_NSF_FUNCTION); }

  static std::map<uint64_t, truth::NmSymbol> sized(const std::string& file) {
    std::map<uint64_t, truth::NmSymbol> by_value;
    for (const truth::NmSymbol& symbol : truth::functions(file))
      if (symbol.size != 0) by_value[symbol.value] = symbol;
    return by_value;
  }

  // Lookups in a stripped file agree with nm's output for the same file with symbols.
  static void expect_as_nm(const std::string& whole, const std::string& stripped,
                           uint64_t load_bias) {
    const auto functions = sized(fixture(whole));
    ASSERT_GT(functions.size(), 400u);
    EXPECT_THAT(functions,
                Contains(testing::Pair(testing::_, testing::Field(&truth::NmSymbol::name,
                                                                  testing::EndsWith(".cold")))));
    map(fixture(stripped), load_bias);
    const uint64_t first = functions.begin()->first;
    const uint64_t last = functions.rbegin()->first + functions.rbegin()->second.size;
    std::mt19937_64 random(7);
    size_t inside = 0;
    for (size_t i = 0; i < 5000; ++i) {
      const uint64_t at = first + random() % (last - first);
      const auto after = functions.upper_bound(at);
      if (after == functions.begin()) continue;
      const truth::NmSymbol& symbol = std::prev(after)->second;
      if (at - symbol.value >= symbol.size) continue;
      ++inside;
      const Answer answer = ask(at + load_bias);
      ASSERT_THAT(answer.rc, testing::AnyOf(A2N_NO_SYMBOL_FOUND, A2N_NO_SYMBOLS)) << symbol.name;
      ASSERT_EQ(answer.symbol, name_of(stripped, symbol.value)) << symbol.name;
      ASSERT_EQ(answer.data.sym_addr, symbol.value + load_bias) << symbol.name;
      ASSERT_EQ(answer.data.sym_length, symbol.size) << symbol.name;
      ASSERT_TRUE(answer.data.flags & A2N_FLAG_FUNCTION);
    }
    EXPECT_GT(inside, 3500u);
    EXPECT_THAT(notes(), IsEmpty());
  }
};

TEST_F(UnwindFunctions, AStrippedProgramHasTheFunctionsThatNmLists) {
  expect_as_nm("functions", "stripped.functions", bias);
}

TEST_F(UnwindFunctions, AProgramWithFixedAddressesHasItsFunctionsWhereItIsLoaded) {
  expect_as_nm("functions.fixed", "stripped.functions.fixed", 0);
}

TEST_F(UnwindFunctions, HaveTheirBytes) {
  const auto functions = sized(fixture("functions"));
  map(fixture("stripped.functions"), bias);
  const truth::NmSymbol& symbol = std::next(functions.begin(), 50)->second;
  const unsigned char* bytes = nullptr;
  uint64_t start = 0;
  size_t length = 0;
  ASSERT_EQ(A2nGetCodeAt(pid, symbol.value + bias, 0, &bytes, &start, &length), A2N_SUCCESS);
  EXPECT_EQ(start, symbol.value + bias);
  EXPECT_EQ(length, symbol.size);
}

TEST_F(UnwindFunctions, TheProcedureLinkageTableHasItsName) {
  map(fixture("stripped.functions"), bias);
  size_t seen = 0;
  for (const truth::NamedSection& section : truth::code_sections(fixture("stripped.functions"))) {
    if (!section.name.starts_with(".plt")) continue;
    ++seen;
    EXPECT_EQ(name_at(section.address + bias + 5), "<plt>");
  }
  EXPECT_GT(seen, 0u);
}

TEST_F(UnwindFunctions, CodeOutsideOfAllFunctionsHasTheSectionsName) {
  map(fixture("stripped.functions"), bias);
  const auto sections = truth::code_sections(fixture("stripped.functions"));
  const auto init = std::find_if(sections.begin(), sections.end(),
                                 [](const auto& section) { return section.name == ".init"; });
  ASSERT_NE(init, sections.end());
  EXPECT_EQ(name_at(init->address + bias), "<<.init>>");
}

TEST_F(UnwindFunctions, OtherActionsDoNotUseThem) {
  const uint64_t at = sized(fixture("functions")).rbegin()->first + bias;
  A2nSetNoSymbolFoundAction(A2N_NSF_SECTION);
  map(fixture("stripped.functions"), bias);
  EXPECT_THAT(name_at(at), testing::StartsWith("<<."));
  EXPECT_EQ(ask(at).data.flags & A2N_FLAG_FUNCTION, 0u);
  A2nSetNoSymbolFoundAction(A2N_NSF_NSF);
  EXPECT_THAT(name_at(at), testing::StartsWith("NoSymbol"));
  A2nSetNoSymbolFoundAction(A2N_NSF_NULL);
  EXPECT_EQ(name_at(at), "(null)");
}

// "exportedN" and its part "exportedN.cold", which is not exported.
TEST_F(UnwindFunctions, AnExportNamesItsOwnFunctionOnly) {
  const std::string stripped = "stripped.libfunctions.so";
  const auto functions = sized(fixture("libfunctions.so"));
  map(fixture(stripped), bias);
  std::map<std::string, size_t> seen;
  for (const auto& [value, symbol] : functions) {
    const bool exported = symbol.name.starts_with("exported") && !symbol.name.ends_with(".cold");
    const bool hidden = symbol.name.starts_with("_ZL") || symbol.name.ends_with(".cold");
    if (!exported && !hidden) continue;
    ++seen[exported ? "exported" : "hidden"];
    for (const uint64_t at : {value, value + symbol.size - 1}) {
      const Answer answer = ask(at + bias);
      EXPECT_EQ(answer.symbol, exported ? symbol.name : name_of(stripped, value));
      EXPECT_EQ(answer.rc, exported ? A2N_SUCCESS : A2N_NO_SYMBOL_FOUND);
    }
  }
  EXPECT_GE(seen["exported"], 200u);
  EXPECT_GE(seen["hidden"], 200u);
}

// Unless the table has another function at the address.
TEST_F(UnwindFunctions, AnExportWithoutASizeDoesNotNameTheFunctionAfterIt) {
  const std::string stripped = "stripped.libfunctions.so";
  const auto symbols = truth::functions(fixture("libfunctions.so"));
  const uint64_t bare = truth::value_of(symbols, "bare_export");
  const auto functions = sized(fixture("libfunctions.so"));
  map(fixture(stripped), bias);
  EXPECT_EQ(name_at(bare + bias), "bare_export");
  EXPECT_EQ(name_at(bare + bias + 2), "bare_export");
  const auto next = functions.upper_bound(bare);
  ASSERT_NE(next, functions.end());
  EXPECT_NE(name_at(next->first + bias), "bare_export");
  A2nInit();
  A2nSetNoSymbolFoundAction(A2N_NSF_SECTION);
  map(fixture(stripped), bias);
  EXPECT_EQ(name_at(bare + bias + 2), "bare_export");
}

TEST_F(UnwindFunctions, AreFoundWithoutSectionHeaders) {
  std::string bytes = read(fixture("stripped.functions"));
  Elf64_Ehdr header;
  std::memcpy(&header, bytes.data(), sizeof header);
  header.e_shoff = 0;
  header.e_shnum = header.e_shstrndx = 0;
  std::memcpy(bytes.data(), &header, sizeof header);
  const std::string file = temporary("bare");
  std::ofstream(file, std::ios::binary) << bytes;
  map(file, bias);
  for (const auto& [value, symbol] : sized(fixture("functions")))
    ASSERT_EQ(name_at(value + symbol.size - 1 + bias), name_of(file, value)) << symbol.name;
}

TEST_F(UnwindFunctions, ADeletedFileGivesItsNameWithoutTheMark) {
  const auto functions = sized(fixture("functions"));
  A2nSetSymbolValidationMode(0);
  map(fixture("stripped.functions"), bias, fixture("stripped.functions") + " (deleted)");
  EXPECT_EQ(name_at(functions.rbegin()->first + bias),
            name_of("stripped.functions", functions.rbegin()->first));
}

// ---- tables that no compiler writes ----

std::string entry(const std::string& body) {
  return ElfBuilder::raw(static_cast<uint32_t>(body.size())) + body;
}

// A CIE for FDEs with this encoding of addresses.
std::string common(char encoding, const std::string& augmentation = "zR") {
  return entry(ElfBuilder::raw(uint32_t{0}) + '\1' + augmentation + '\0' + "\1\x78\x10\1" +
               encoding);
}

// distance: from the CIE to this FDE.
template <class Address>
std::string function(size_t distance, Address start, Address size) {
  return entry(ElfBuilder::raw(static_cast<uint32_t>(distance + 4)) + ElfBuilder::raw(start) +
               ElfBuilder::raw(size) + '\0');
}

class HostileTable : public UnwindFunctions {
 protected:
  static std::string file_with(const std::string& table) {
    ElfBuilder elf;
    elf.section(".eh_frame", SHT_PROGBITS, table, 0, SHF_ALLOC);
    return elf.bytes();
  }
  void write(const std::string& bytes) {
    A2nInit();
    A2nSetNoSymbolFoundAction(A2N_NSF_FUNCTION);
    path_ = temporary("built.so");
    std::ofstream(path_, std::ios::binary | std::ios::trunc) << bytes;
    A2nAddModuleEx(pid, bias, ElfBuilder::code_size, path_.c_str(), 0, code, 0);
  }
  void expect_others_are_named() {
    const uint64_t other = bias + 0x10000000;
    const auto functions = sized(fixture("functions"));
    map(fixture("stripped.functions"), other);
    EXPECT_EQ(name_at(functions.rbegin()->first + other),
              name_of("stripped.functions", functions.rbegin()->first));
  }
  std::string path_;
};

TEST_F(HostileTable, AValidTableIsRead) {
  std::string table = common('\0');
  table += function<uint64_t>(table.size(), code + 0x10, 0x20);
  table += function<uint64_t>(table.size(), code + 0x40, 0x10);
  write(file_with(table));
  EXPECT_EQ(name_at(bias + 0x0f), "<<.text>>");
  EXPECT_EQ(name_at(bias + 0x10), "[built.so+0x1010]");
  EXPECT_EQ(name_at(bias + 0x2f), "[built.so+0x1010]");
  EXPECT_EQ(name_at(bias + 0x30), "<<.text>>");
  EXPECT_EQ(name_at(bias + 0x4f), "[built.so+0x1040]");
}

TEST_F(HostileTable, InvalidEntriesAreIgnored) {
  std::string table = common('\0');
  const auto add = [&table](uint64_t start, uint64_t size) {
    table += function<uint64_t>(table.size(), start, size);
  };
  add(code + 0x10, 0);                                       // nothing
  add(UINT64_MAX - 5, 0x100);                                // around the end of the address space
  add(0, UINT64_MAX);                                        // everything, from outside of the code
  add(code + 0xff0, UINT64_MAX);                             // far beyond the code's end
  table += function<uint64_t>(3, code + 0x100, 0x10);        // its CIE is no CIE
  table += function<uint64_t>(1 << 20, code + 0x200, 0x10);  // ... and before the table
  size_t at = table.size();
  table += common('\x80');  // addresses of addresses
  table += function<uint64_t>(table.size() - at, code + 0x300, 0x10);
  at = table.size();
  table += common('\0', "zQR");  // Q has no meaning
  table += function<uint64_t>(table.size() - at, code + 0x400, 0x10);
  add(code + 0x500, 0x10);
  table += ElfBuilder::raw(uint32_t{0x7fffffff}) + "x";  // longer than the rest
  write(file_with(table));
  for (const uint64_t gap : {0x10, 0x100, 0x200, 0x300, 0x400})
    EXPECT_EQ(name_at(bias + gap), "<<.text>>") << gap;
  EXPECT_EQ(name_at(bias + 0x505), "[built.so+0x1500]");
  EXPECT_EQ(name_at(bias + 0xfff), "[built.so+0x1ff0]");
  EXPECT_EQ(ask(bias + 0xfff).data.sym_length, 0x10u);
}

TEST_F(HostileTable, DamagedTablesAreHandled) {
  const std::string good = read(fixture("stripped.functions"));
  const auto sections = truth::run("readelf -SW " + fixture("stripped.functions"));
  const size_t line = sections.find(" .eh_frame ");
  ASSERT_NE(line, sections.npos);
  uint64_t address = 0, offset = 0, size = 0;
  ASSERT_EQ(
      std::sscanf(sections.c_str() + line, " .eh_frame %*s %lx %lx %lx", &address, &offset, &size),
      3);
  std::mt19937 random(5);
  for (int i = 0; i < 400; ++i) {
    std::string bytes = good;
    for (int k = 0; k < 30; ++k) bytes[offset + random() % size] = static_cast<char>(random());
    auto file = a2n::ElfFile::from_bytes({bytes.begin(), bytes.end()}, "damaged");
    ASSERT_TRUE(file);
    const auto functions = a2n::read_unwind_functions(*file);
    ASSERT_TRUE(functions);
    for (size_t k = 0; k < functions->size(); ++k) {
      const a2n::FunctionRange& function = (*functions)[k];
      ASSERT_TRUE(k == 0 || (*functions)[k - 1].start < function.start);
      const auto code_ranges = file->layout().code();
      ASSERT_TRUE(std::any_of(code_ranges.begin(), code_ranges.end(), [&](const a2n::Range& range) {
        return range.contains(function.start) && function.start + function.size <= range.end;
      }));
    }
  }
}

TEST_F(HostileTable, ManyFunctionsTakeLittleMoreThanTheirBytes) {
  std::string table = common('\x02');  // addresses of two bytes
  for (uint32_t i = 0; table.size() < 4 * MiB; ++i)
    table += function<uint16_t>(table.size(), static_cast<uint16_t>(code + i % 0xfff), 1);
  const size_t size = table.size();
  write(file_with(table));
  table = {};
  const HeapPeak peak;
  EXPECT_EQ(name_at(bias + 0x10), "[built.so+0x1010]");
  EXPECT_LT(peak.bytes(), 6 * size);
  EXPECT_EQ(ask(bias + 0xffe).data.sym_length, 1u);
}

// The table includes a hole of the file.
TEST_F(HostileTable, ATableThatExceedsItsBudgetIsRefusedWithANote) {
  ElfBuilder elf;
  elf.section(".eh_frame", SHT_PROGBITS, common('\0'), 0, SHF_ALLOC);
  std::string bytes = elf.bytes();
  Elf64_Ehdr header;
  std::memcpy(&header, bytes.data(), sizeof header);
  Elf64_Shdr section;
  const size_t at = header.e_shoff + 2 * sizeof section;
  std::memcpy(&section, bytes.data() + at, sizeof section);
  section.sh_size = 17 * MiB;
  std::memcpy(bytes.data() + at, &section, sizeof section);
  write(bytes);
  ASSERT_EQ(::truncate(path_.c_str(), 20 * MiB), 0);
  const HeapPeak peak;
  EXPECT_EQ(name_at(bias + 0x10), "<<.text>>");
  EXPECT_LT(peak.bytes(), MiB);
  EXPECT_THAT(notes(), Contains(testing::AllOf(HasSubstr(path_), HasSubstr(".eh_frame"))));
  expect_others_are_named();
}

}  // namespace
