// SPDX-License-Identifier: MIT
// Tables of hand-written call frame information, some of which no compiler writes.
#include "compile/compile_table.h"

#include <gtest/gtest.h>
#include <pi/unique_fd.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <zlib.h>
#include <zstd.h>

#include <cstddef>
#include <random>

#include "cfi_file.h"
#include "tables.h"

namespace {

using unwind::CfaKind;
using unwind::SaveKind;
using unwind_test::cfi;
using unwind_test::CfiSection;
using unwind_test::file_with;
using unwind_test::owned;
using unwind_test::OwnedTable;
using unwind_test::usual_start;

constexpr uint64_t code = ElfBuilder::code_address;

OwnedTable compile(const std::vector<std::byte>& file) {
  auto bytes = unwind::compile_table(file);
  EXPECT_TRUE(bytes);
  return bytes ? owned(std::move(*bytes)) : OwnedTable();
}

OwnedTable compile_one(const std::string& instructions, const std::string& start = usual_start()) {
  return compile(file_with(CfiSection(true, start).function(code, 0x40, instructions)));
}

int32_t offset_at(const OwnedTable& table, uint64_t place) {
  const auto& cfa = *table.table.find(code + place).cfa;
  return cfa.kind == CfaKind::offset ? cfa.offset : -static_cast<int32_t>(cfa.kind);
}

constexpr auto unsupported = -static_cast<int32_t>(CfaKind::unsupported);

TEST(UnwindCompile, ARowBeginsWhereARuleChanges) {
  const auto table =
      compile_one(cfi({DW_CFA_advance_loc + 1, DW_CFA_def_cfa_offset, 16, DW_CFA_offset + 6, 2,
                       DW_CFA_advance_loc + 3, DW_CFA_def_cfa_register, 6}));
  EXPECT_EQ(offset_at(table, 0), 8);
  EXPECT_EQ(offset_at(table, 1), 16);
  EXPECT_EQ(table.table.find(code + 1).cfa->base, 7);
  EXPECT_EQ(table.table.find(code + 4).cfa->base, 6);
  const auto saves = table.table.find(code + 4).saves;
  ASSERT_EQ(saves.size(), 2u);
  EXPECT_EQ(saves[0].reg, 6);
  EXPECT_EQ(saves[0].offset, -16);
  EXPECT_EQ(saves[1].reg, 16);
  EXPECT_EQ(offset_at(table, 0x40), 0);
}

TEST(UnwindCompile, RememberedAndInitialRulesReturn) {
  const auto table =
      compile_one(cfi({DW_CFA_offset + 3, 2, DW_CFA_def_cfa_offset, 16, DW_CFA_advance_loc + 1,
                       DW_CFA_remember_state, DW_CFA_def_cfa_offset, 8, DW_CFA_restore + 3,
                       DW_CFA_advance_loc + 1, DW_CFA_restore_state}));
  EXPECT_EQ(table.table.find(code).saves.size(), 2u);
  EXPECT_EQ(offset_at(table, 1), 8);
  EXPECT_EQ(table.table.find(code + 1).saves.size(), 1u);
  EXPECT_EQ(offset_at(table, 2), 16);
  EXPECT_EQ(table.table.find(code + 2).saves.size(), 2u);
}

TEST(UnwindCompile, AnUndefinedReturnAddressIsTheEndOfTheStack) {
  const auto table =
      compile_one(cfi({DW_CFA_undefined, 16, DW_CFA_advance_loc + 1, DW_CFA_restore + 16}));
  EXPECT_EQ(table.table.find(code).cfa->kind, CfaKind::end);
  EXPECT_EQ(offset_at(table, 1), 8);
}

TEST(UnwindCompile, AReturnAddressWithoutARuleIsNotSupported) {
  const auto table = compile_one("", cfi({DW_CFA_def_cfa, 7, 8}));
  EXPECT_EQ(offset_at(table, 0), unsupported);
  EXPECT_EQ(table.table.header().unsupported, 1u);
}

TEST(UnwindCompile, WhatIsNotSupportedEndsWithItsFunction) {
  const CfiSection section =
      CfiSection(true)
          .function(code, 0x10,
                    cfi({DW_CFA_advance_loc + 4, DW_CFA_def_cfa_expression, 1, DW_OP_lit0,
                         DW_CFA_advance_loc + 4, DW_CFA_def_cfa, 7, 24, DW_CFA_advance_loc + 4,
                         DW_CFA_low_user}))
          .function(code + 0x10, 0x10);
  const auto table = compile(file_with(section));
  EXPECT_EQ(offset_at(table, 0), 8);
  EXPECT_EQ(offset_at(table, 4), unsupported);
  EXPECT_EQ(offset_at(table, 8), 24);
  EXPECT_EQ(offset_at(table, 12), unsupported);
  EXPECT_EQ(offset_at(table, 0x10), 8);
  EXPECT_EQ(table.table.header().unsupported, 2u);
}

TEST(UnwindCompile, ARegisterWithAnUnknownExpressionIsLostAloneUnlessItIsTheReturnAddress) {
  const auto other = compile_one(cfi({DW_CFA_expression, 3, 1, DW_OP_lit0}));
  EXPECT_EQ(offset_at(other, 0), 8);
  EXPECT_EQ(other.table.find(code).saves[0].kind, SaveKind::lost);
  const auto caller = compile_one(cfi({DW_CFA_expression, 16, 1, DW_OP_lit0}));
  EXPECT_EQ(offset_at(caller, 0), unsupported);
}

TEST(UnwindCompile, RegistersAreSavedInOtherRegistersAndAtThem) {
  const auto table =
      compile_one(cfi({DW_CFA_register, 16, 14, DW_CFA_expression, 12, 2, DW_OP_breg6, 0x70,
                       DW_CFA_val_offset, 13, 2, DW_CFA_offset + 40, 3}));
  const auto saves = table.table.find(code).saves;
  ASSERT_EQ(saves.size(), 3u);
  EXPECT_EQ(saves[0].kind, SaveKind::at_base);
  EXPECT_EQ(saves[0].base, 6);
  EXPECT_EQ(saves[0].offset, -16);
  EXPECT_EQ(saves[1].kind, SaveKind::cfa);
  EXPECT_EQ(saves[1].offset, -16);
  EXPECT_EQ(saves[2].kind, SaveKind::in_base);
  EXPECT_EQ(saves[2].base, 14);
}

TEST(UnwindCompile, AugmentationsTellTheEncodingAndSignalFrames) {
  // Relative to the field, four bytes; the section's address is 0x10000.
  CfiSection section(true, usual_start(), "zRS", cfi({DW_EH_PE_pcrel | DW_EH_PE_sdata4}));
  const auto field = static_cast<uint64_t>(section.bytes().size()) + 8;
  std::string bytes = section.bytes();
  std::string body = ElfBuilder::raw(static_cast<uint32_t>(bytes.size() + 4));
  body += ElfBuilder::raw(static_cast<int32_t>(code - 0x10000 - field)) +
          ElfBuilder::raw(uint32_t{0x20}) + '\0' + std::string(3, DW_CFA_nop);
  bytes += ElfBuilder::raw(static_cast<uint32_t>(body.size())) + body;
  const auto table = compile(file_with(bytes, ".eh_frame"));
  const auto found = table.table.find(code);
  EXPECT_EQ(found.cfa->kind, CfaKind::offset);
  EXPECT_EQ(found.cfa->flags, unwind::rule_signal);
  EXPECT_EQ(table.table.find(code + 0x20).cfa->kind, CfaKind::none);
}

// Go's, to which its handlers return, is described as any function; a C library can say nothing of
// it.
TEST(UnwindCompile, TheCodeThatHandlersReturnToIsKnownByItsInstructions) {
  ElfBuilder elf;
  elf.code(std::string(0x100, '\xcc') + cfi({0x48, 0xc7, 0xc0, 15, 0, 0, 0, 0x0f, 0x05}));
  const std::string section =
      CfiSection(false).function(code, 0x20).function(code + 0x100, 0x20).bytes();
  unwind_test::add_section(elf, section, ".debug_frame");
  // In another file it may be data.
  EXPECT_EQ(offset_at(compile(unwind_test::as_bytes(elf.bytes())), 0x100), 8);
  elf.section(".note.go.buildid", SHT_NOTE, "go", 0, SHF_ALLOC);
  const auto table = compile(unwind_test::as_bytes(elf.bytes()));
  EXPECT_EQ(offset_at(table, 0x1f), 8);
  EXPECT_EQ(offset_at(table, 0xfe), 0);
  EXPECT_EQ(offset_at(table, 0x109), 0);
  // What handlers return to is looked up by the byte before.
  for (const uint64_t place : {0xff, 0x100, 0x107}) {
    const auto found = table.table.find(code + place);
    EXPECT_EQ(found.cfa->kind, CfaKind::dereference);
    EXPECT_EQ(found.cfa->flags, unwind::rule_signal);
    EXPECT_EQ(found.cfa->base, unwind::stack_pointer);
    EXPECT_EQ(found.cfa->offset,
              static_cast<int32_t>(offsetof(ucontext_t, uc_mcontext.gregs[REG_RSP])));
    ASSERT_EQ(found.saves.size(), 17u);
    EXPECT_EQ(found.saves[16].reg, unwind::return_address);
    EXPECT_EQ(found.saves[16].offset,
              static_cast<int32_t>(offsetof(ucontext_t, uc_mcontext.gregs[REG_RIP])));
  }
}

// A file of such code only does not make the table long.
TEST(UnwindCompile, ALimitedNumberOfPlacesEndsHandlers) {
  ElfBuilder elf;
  std::string bytes;
  for (int i = 0; i < 100; ++i) bytes += '\xcc' + cfi({0x48, 0xc7, 0xc0, 15, 0, 0, 0, 0x0f, 0x05});
  elf.code(bytes);
  unwind_test::add_section(elf, CfiSection(false).bytes(), ".debug_frame");
  elf.section(".note.go.buildid", SHT_NOTE, "go", 0, SHF_ALLOC);
  const auto table = compile(unwind_test::as_bytes(elf.bytes()));
  EXPECT_LE(table.table.header().rows, 32u);
}

TEST(UnwindCompile, DebugFrameIsUsedWhereEhFrameIsMissing) {
  const CfiSection section = CfiSection(false).function(code, 0x10);
  EXPECT_EQ(offset_at(compile(file_with(section.bytes(), ".debug_frame")), 0), 8);
  EXPECT_FALSE(unwind::compile_table(file_with(section.bytes(), ".debug_info")));
}

// As a program in Go with parts in C has them.
TEST(UnwindCompile, OfTwoSectionsEachCountsWhereItHasAnEntryAndEhFrameFirst) {
  const auto with_offset = [](int offset) { return cfi({DW_CFA_def_cfa_offset, offset}); };
  const std::string eh_frame = CfiSection(true)
                                   .function(code + 0x100, 0x20, with_offset(16))
                                   .function(code + 0x180, 0x40, with_offset(24))
                                   .bytes();
  const std::string debug_frame = CfiSection(false)
                                      .function(code, 0x20, with_offset(32))
                                      .function(code + 0x100, 0x60, with_offset(40))
                                      .function(code + 0x170, 0x30, with_offset(48))
                                      .function(code + 0x190, 0x10, with_offset(56))
                                      .function(code + 0x1c0, 0x10, with_offset(64))
                                      .bytes();
  ElfBuilder elf;
  unwind_test::add_section(elf, debug_frame, ".debug_frame");
  unwind_test::add_section(elf, eh_frame, ".eh_frame");
  const auto table = compile(unwind_test::as_bytes(elf.bytes()));
  const std::vector<std::pair<uint64_t, int32_t>> expected = {
      {0, 32},     {0x1f, 32},  {0x20, 0},   {0x100, 16}, {0x11f, 16}, {0x120, 0},  {0x16f, 0},
      {0x170, 48}, {0x17f, 48}, {0x180, 24}, {0x190, 24}, {0x1bf, 24}, {0x1c0, 64}, {0x1d0, 0}};
  for (const auto& [place, offset] : expected) EXPECT_EQ(offset_at(table, place), offset) << place;
}

std::string packed_by(uint32_t type, const std::string& section, uint64_t size) {
  std::string packed(256, '\0');
  size_t length = 0;
  if (type == ELFCOMPRESS_ZLIB) {
    uLongf bytes = packed.size();
    EXPECT_EQ(compress(reinterpret_cast<Bytef*>(packed.data()), &bytes,
                       reinterpret_cast<const Bytef*>(section.data()), section.size()),
              Z_OK);
    length = bytes;
  } else {
    length = ZSTD_compress(packed.data(), packed.size(), section.data(), section.size(), 1);
  }
  EXPECT_LE(length, packed.size());
  return ElfBuilder::raw(Elf64_Chdr{type, 0, size, 8}) + packed.substr(0, length);
}

// The child process that compiles a file has it in such memory. Go compresses its .debug_frame.
TEST(UnwindCompile, ACompressedDebugFrameIsReadFromMemoryThatCannotBeWritten) {
  const std::string section = CfiSection(false).function(code, 0x10).bytes();
  const auto compile_packed = [&](uint32_t type, uint64_t size) {
    ElfBuilder elf;
    elf.section(".debug_frame", SHT_PROGBITS, packed_by(type, section, size), 0, SHF_COMPRESSED);
    const auto file = unwind_test::as_bytes(elf.bytes());
    const pi::UniqueMapping memory(
        ::mmap(nullptr, file.size(), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0),
        file.size());
    EXPECT_TRUE(memory);
    std::copy(file.begin(), file.end(), memory.data());
    EXPECT_EQ(::mprotect(memory.data(), memory.size(), PROT_READ), 0);
    return unwind::compile_table(memory.bytes());
  };
  constexpr uint32_t zstd = 2;
  for (const uint32_t type : {uint32_t{ELFCOMPRESS_ZLIB}, zstd}) {
    auto bytes = compile_packed(type, section.size());
    ASSERT_TRUE(bytes) << type;
    EXPECT_EQ(offset_at(owned(std::move(*bytes)), 0), 8);
    // It has fewer or more bytes than it says, or so many that they are not wanted.
    for (const uint64_t size : {section.size() - 1, section.size() + 1, size_t{1} << 40})
      EXPECT_FALSE(compile_packed(type, size)) << type << ' ' << size;
  }
}

TEST(UnwindCompile, EntriesThatCannotBeReadAreCounted) {
  const std::string good = CfiSection(true).function(code, 0x10).bytes();
  // A function whose CIE is beyond the section, and one that ends before its address.
  std::string bad = good;
  bad.replace(bad.size() - 20 - 4, 4, ElfBuilder::raw(uint32_t{0x7fffffff}));
  const auto table = compile(file_with(bad, ".eh_frame"));
  EXPECT_EQ(table.table.header().invalid, 1u);
  EXPECT_EQ(table.table.rows(), 0u);
}

TEST(UnwindCompile, RowsBeyondTheLastAddressAreLeftOut) {
  // The file says that the segment is at the end of all places.
  auto file = file_with(
      CfiSection(true).function(code, 0x40,
                                cfi({DW_CFA_advance_loc1, 0x20, DW_CFA_def_cfa_offset, 16,
                                     DW_CFA_advance_loc2, 0, 0x10, DW_CFA_def_cfa_offset, 24})));
  auto* segment = reinterpret_cast<Elf64_Phdr*>(file.data() + sizeof(Elf64_Ehdr));
  segment->p_offset = UINT64_MAX - 0x80;
  segment->p_filesz = 0x50;
  const auto bytes = unwind::compile_table(file);
  ASSERT_TRUE(bytes);
  const auto table = unwind::Table::check(*bytes);
  ASSERT_TRUE(table);
  EXPECT_EQ(table->rows(), 3u);  // two rules, and the function's end
}

TEST(UnwindCompile, OtherFilesAreRefused) {
  EXPECT_FALSE(unwind::compile_table({}));
  EXPECT_FALSE(unwind::compile_table(unwind_test::as_bytes("#!/bin/sh\n")));
  auto file = file_with(CfiSection(true).function(code, 0x10));
  file[EI_CLASS] = std::byte{ELFCLASS32};
  EXPECT_FALSE(unwind::compile_table(file));
}

TEST(UnwindCompile, DamagedFilesGiveTablesThatAreInBoundsOrNone) {
  const auto good = file_with(
      CfiSection(true, usual_start(), "zR", cfi({DW_EH_PE_absptr}))
          .function(code, 0x40, cfi({DW_CFA_advance_loc + 1, DW_CFA_def_cfa_offset, 16}))
          .function(code + 0x40, 0x10, cfi({DW_CFA_remember_state, DW_CFA_restore_state})));
  std::mt19937 random(3);
  for (int i = 0; i < 3000; ++i) {
    auto file = good;
    for (int change = 0; change < 3; ++change)
      file[random() % file.size()] = static_cast<std::byte>(random());
    const auto bytes = unwind::compile_table(file);
    ASSERT_TRUE(!bytes || unwind::Table::check(*bytes)) << i;
  }
}

}  // namespace
