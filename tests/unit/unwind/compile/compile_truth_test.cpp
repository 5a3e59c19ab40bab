// SPDX-License-Identifier: MIT
// The tables of this machine's libraries and of this program compared with elfutils, which
// interprets the instructions of one function for one address.
#include <dlfcn.h>
#include <dwarf.h>
#include <elfutils/libdw.h>
#include <fcntl.h>
#include <gelf.h>
#include <gnu/libc-version.h>
#include <gtest/gtest.h>
#include <link.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>
#include <random>
#include <stdexcept>
#include <string>

#include <pi/unique_fd.h>

#include "tables.h"

namespace {

using unwind::Cfa;
using unwind::CfaKind;
using unwind::Registers;
using unwind::Save;
using unwind::SaveKind;
using unwind::Table;

// Any address contains a word, which is different for each.
uint64_t word_at(uint64_t address) {
  address ^= address >> 31;
  address *= 0x9e3779b97f4a7c15;
  return address ^ address >> 29;
}

// Computes the value of a location that elfutils describes; nothing for an unknown operation.
std::optional<uint64_t> evaluate(const Dwarf_Op* ops, size_t count, const Registers& registers,
                                 uint64_t cfa) {
  std::vector<uint64_t> stack;
  const auto pop = [&] {
    if (stack.empty()) throw std::runtime_error("empty stack");
    const uint64_t value = stack.back();
    stack.pop_back();
    return value;
  };
  bool is_value = false;
  for (size_t i = 0; i < count; ++i) {
    const Dwarf_Op& op = ops[i];
    if (op.atom >= DW_OP_breg0 && op.atom <= DW_OP_breg16)
      stack.push_back(registers.at(op.atom - DW_OP_breg0) + op.number);
    else if (op.atom == DW_OP_bregx)
      stack.push_back(registers.at(op.number) + op.number2);
    else if (op.atom >= DW_OP_reg0 && op.atom <= DW_OP_reg16)
      stack.push_back(registers.at(op.atom - DW_OP_reg0)), is_value = true;
    else if (op.atom == DW_OP_regx)
      stack.push_back(registers.at(op.number)), is_value = true;
    else if (op.atom >= DW_OP_lit0 && op.atom <= DW_OP_lit31)
      stack.push_back(op.atom - DW_OP_lit0);
    else if (op.atom == DW_OP_call_frame_cfa)
      stack.push_back(cfa);
    else if (op.atom == DW_OP_plus_uconst)
      stack.push_back(pop() + op.number);
    else if (op.atom == DW_OP_const8s || op.atom == DW_OP_consts || op.atom == DW_OP_const4s ||
             op.atom == DW_OP_const2s || op.atom == DW_OP_const1s)
      stack.push_back(op.number);
    else if (op.atom == DW_OP_plus)
      stack.push_back(pop() + pop());
    else if (op.atom == DW_OP_and)
      stack.push_back(pop() & pop());
    else if (op.atom == DW_OP_ge) {
      const auto right = static_cast<int64_t>(pop());
      stack.push_back(static_cast<int64_t>(pop()) >= right);
    } else if (op.atom == DW_OP_shl) {
      const uint64_t right = pop();
      stack.push_back(pop() << right);
    } else if (op.atom == DW_OP_deref)
      stack.push_back(word_at(pop()));
    else if (op.atom == DW_OP_stack_value)
      is_value = true;
    else
      return std::nullopt;
  }
  return is_value ? pop() : word_at(pop());
}

uint64_t cfa_of(const Cfa& cfa, const Registers& registers) {
  const uint64_t sum = registers.at(cfa.base) + static_cast<uint64_t>(int64_t{cfa.offset});
  if (cfa.kind == CfaKind::dereference)
    return word_at(sum) + static_cast<uint64_t>(int64_t{cfa.second});
  const bool pushed = cfa.kind == CfaKind::plt &&
                      static_cast<int64_t>(registers[unwind::return_address] & 15) >= cfa.second;
  return sum + (pushed ? 8 : 0);
}

// The caller's value of a register by the table; nothing: it is lost.
std::optional<uint64_t> value_of(const Table::Found& found, unsigned reg,
                                 const Registers& registers, uint64_t cfa) {
  for (const Save& save : found.saves) {
    if (save.reg != reg) continue;
    const auto offset = static_cast<uint64_t>(int64_t{save.offset});
    switch (save.kind) {
      case SaveKind::at_cfa:
        return word_at(cfa + offset);
      case SaveKind::cfa:
        return cfa + offset;
      case SaveKind::at_base:
        return word_at(registers.at(save.base) + offset);
      case SaveKind::in_base:
        return registers.at(save.base) + offset;
      default:
        return std::nullopt;
    }
  }
  return reg == unwind::stack_pointer ? cfa : registers.at(reg);
}

// elfutils calls a register undefined too if the information does not mention it.
bool has_location(const Table::Found& found, unsigned reg) {
  return std::ranges::any_of(found.saves, [=](const Save& save) {
    return save.reg == reg && save.kind != SaveKind::lost;
  });
}

struct EndElf {
  void operator()(Elf* elf) const { elf_end(elf); }
};

class Truth {
 public:
  explicit Truth(const std::string& path) : fd_(::open(path.c_str(), O_RDONLY | O_CLOEXEC)) {
    elf_version(EV_CURRENT);
    elf_.reset(elf_begin(fd_.get(), ELF_C_READ_MMAP, nullptr));
    cfi_ = dwarf_getcfi_elf(elf_.get());
  }
  ~Truth() { dwarf_cfi_end(cfi_); }
  Dwarf_CFI* cfi() const { return cfi_; }
  // The address of code at an offset in the file.
  uint64_t address_of(uint64_t offset) const {
    size_t count = 0;
    elf_getphdrnum(elf_.get(), &count);
    for (size_t i = 0; i < count; ++i) {
      GElf_Phdr header;
      if (gelf_getphdr(elf_.get(), static_cast<int>(i), &header) && header.p_type == PT_LOAD &&
          offset >= header.p_offset && offset - header.p_offset < header.p_filesz)
        return offset - header.p_offset + header.p_vaddr;
    }
    return offset;
  }

 private:
  pi::UniqueFd fd_;
  std::unique_ptr<Elf, EndElf> elf_;
  Dwarf_CFI* cfi_ = nullptr;
};

struct Free {
  void operator()(Dwarf_Frame* frame) const { std::free(frame); }
};

struct Compared {
  size_t addresses = 0, without = 0, ends = 0, signals = 0, unsupported = 0;
};

// Registers that a function keeps for its caller, in the ABI of x86-64.
constexpr unsigned kept_registers[] = {3, 6, 12, 13, 14, 15, 7, 16};

void compare_registers(Dwarf_Frame* frame, const Table::Found& found, const Registers& registers,
                       uint64_t cfa) {
  for (const unsigned reg : kept_registers) {
    Dwarf_Op memory[3];
    Dwarf_Op* ops = nullptr;
    size_t count = 0;
    ASSERT_EQ(dwarf_frame_register(frame, static_cast<int>(reg), memory, &ops, &count), 0);
    const auto ours = value_of(found, reg, registers, cfa);
    if (count == 0 && ops == nullptr)
      EXPECT_EQ(ours, registers.at(reg)) << "register " << reg << " has the same value";
    else if (count == 0)
      EXPECT_FALSE(has_location(found, reg)) << "register " << reg;
    else
      EXPECT_EQ(ours, evaluate(ops, count, registers, cfa)) << "register " << reg;
  }
}

void compare(const Truth& truth, const Table& table, uint64_t offset, std::mt19937_64& random,
             Compared& compared) {
  const uint64_t address = truth.address_of(offset);
  SCOPED_TRACE(testing::Message() << "address 0x" << std::hex << address);
  const auto found = table.find(offset);
  Dwarf_Frame* raw = nullptr;
  const int outcome = dwarf_cfi_addrframe(truth.cfi(), address, &raw);
  const std::unique_ptr<Dwarf_Frame, Free> frame(raw);
  ++compared.addresses;
  if (outcome != 0) {
    EXPECT_EQ(found.cfa->kind, CfaKind::none) << dwarf_errmsg(-1);
    ++compared.without;
    return;
  }
  if (found.cfa->kind == CfaKind::unsupported) {
    ++compared.unsupported;
    return;
  }
  Dwarf_Op memory[3];
  Dwarf_Op* ops = nullptr;
  size_t count = 0;
  bool signal = false;
  ASSERT_EQ(dwarf_frame_register(frame.get(), unwind::return_address, memory, &ops, &count), 0);
  const bool is_end = count == 0 && ops != nullptr;
  EXPECT_EQ(found.cfa->kind == CfaKind::end, is_end);
  compared.ends += is_end;
  if (is_end) return;
  ASSERT_GE(dwarf_frame_info(frame.get(), nullptr, nullptr, &signal), 0);
  EXPECT_EQ((found.cfa->flags & unwind::rule_signal) != 0, signal);
  compared.signals += signal;
  Registers registers;
  for (auto& value : registers) value = random() >> 16;
  registers[unwind::return_address] = address;
  Dwarf_Op* cfa_ops = nullptr;
  size_t cfa_count = 0;
  ASSERT_EQ(dwarf_frame_cfa(frame.get(), &cfa_ops, &cfa_count), 0);
  // A CFA is a value, where evaluate() expects a location.
  std::vector<Dwarf_Op> cfa_value(cfa_ops, cfa_ops + cfa_count);
  cfa_value.push_back({DW_OP_stack_value, 0, 0, 0});
  const auto cfa = evaluate(cfa_value.data(), cfa_value.size(), registers, 0);
  ASSERT_TRUE(cfa);
  EXPECT_EQ(cfa_of(*found.cfa, registers), *cfa);
  compare_registers(frame.get(), found, registers, *cfa);
}

// At the first and the last byte of rows that are spread over the file; all, if there are few.
Compared compare_file(const std::string& path, size_t samples) {
  const auto table = unwind_test::compile_file(path);
  const Truth truth(path);
  EXPECT_NE(truth.cfi(), nullptr);
  EXPECT_EQ(table.table.header().invalid, 0u) << path;
  std::mt19937_64 random(1);
  Compared compared;
  const size_t rows = table.table.rows();
  const size_t step = std::max<size_t>(1, rows / samples);
  for (size_t row = 0; row < rows && !testing::Test::HasFailure(); row += step) {
    compare(truth, table.table, table.table.row_address(row), random, compared);
    if (row != 0) compare(truth, table.table, table.table.row_address(row) - 1, random, compared);
  }
  return compared;
}

// The file that contains a symbol of this process.
std::string file_of(const void* symbol) {
  Dl_info info{};
  ::dladdr(symbol, &info);
  char* real = ::realpath(info.dli_fname, nullptr);
  const std::string path = real ? real : "";
  std::free(real);
  return path;
}

TEST(UnwindTruth, TheCLibrary) {
  const auto compared =
      compare_file(file_of(reinterpret_cast<void*>(&::gnu_get_libc_version)), 4000);
  EXPECT_GT(compared.addresses, 4000u);
  EXPECT_GT(compared.without, 0u);
}

// The frame of a signal handler, the start of a thread, and expressions are few rows of a file.
TEST(UnwindTruth, TheRareRulesOfTheCLibrary) {
  const std::string path = file_of(reinterpret_cast<void*>(&::gnu_get_libc_version));
  const auto table = unwind_test::compile_file(path);
  const Truth truth(path);
  std::mt19937_64 random(2);
  Compared compared;
  for (size_t row = 0; row < table.table.rows(); ++row) {
    const uint64_t address = table.table.row_address(row);
    const auto& cfa = *table.table.find(address).cfa;
    if (cfa.kind == CfaKind::end || cfa.kind == CfaKind::dereference || cfa.kind == CfaKind::plt ||
        (cfa.flags & unwind::rule_signal) != 0)
      for (uint64_t byte = 0; byte < 16; ++byte)
        compare(truth, table.table, address + byte, random, compared);
  }
  EXPECT_GT(compared.ends, 0u);
  EXPECT_GT(compared.signals, 0u);
  EXPECT_LT(table.table.header().unsupported, 16u);
}

TEST(UnwindTruth, TheCxxLibrary) {
  Dl_info info{};
  ASSERT_NE(::dladdr(::dlsym(RTLD_DEFAULT, "__cxa_throw"), &info), 0);
  EXPECT_GT(compare_file(file_of(::dlsym(RTLD_DEFAULT, "__cxa_throw")), 3000).addresses, 3000u);
}

TEST(UnwindTruth, TheLoaderAndTheMathLibrary) {
  EXPECT_GT(compare_file(file_of(reinterpret_cast<void*>(&_r_debug)), 2000).addresses, 500u);
  const auto math = static_cast<double (*)(double)>(&std::sin);
  EXPECT_GT(compare_file(file_of(reinterpret_cast<void*>(math)), 2000).addresses, 500u);
}

TEST(UnwindTruth, ThisProgram) {
  EXPECT_GT(compare_file("/proc/self/exe", 2000).addresses, 1000u);
}

}  // namespace
