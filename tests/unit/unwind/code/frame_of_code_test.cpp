// SPDX-License-Identifier: MIT
// Frames of code without tables: of instructions that are written here by hand, and of functions of
// this program, compared with their tables.
#include "code/frame_of_code.h"

#include <disassembler.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <initializer_list>
#include <random>
#include <vector>

#include "loaded/loaded_code.h"

namespace {

using testing::Gt;
using unwind::FrameOfCode;
using Kind = unwind::FrameOfCode::Kind;
using unwind::SaveKind;

constexpr uint64_t at = 0x7f0000001000;
constexpr uint8_t rax = 0, rbp = unwind::frame_pointer, rsp = unwind::stack_pointer;

std::vector<std::byte> bytes(std::initializer_list<int> numbers) {
  std::vector<std::byte> code;
  for (const int number : numbers) code.push_back(static_cast<std::byte>(number));
  return code;
}

// Of the instruction so many bytes from the start of the code.
FrameOfCode find(const std::vector<std::byte>& code, uint64_t offset = 0) {
  static const unwind::CodeReader reader;
  return reader.find(code, at, at + offset);
}

unwind::Save save_of(const FrameOfCode& frame, unsigned reg) {
  for (const unwind::Save& save : frame.rule.found().saves)
    if (save.reg == reg) return save;
  return {SaveKind::same, 0, 0, 0, 0};
}

void expect_return_at(const FrameOfCode& frame, uint8_t base, int32_t offset) {
  const unwind::Save save = save_of(frame, unwind::return_address);
  EXPECT_EQ(save.kind, SaveKind::at_base);
  EXPECT_EQ(save.base, base);
  EXPECT_EQ(save.offset, offset);
}

void expect_frame_pointer_at(const FrameOfCode& frame, uint8_t base, int32_t offset) {
  const unwind::Save save = save_of(frame, rbp);
  EXPECT_EQ(save.kind, SaveKind::at_base);
  EXPECT_EQ(save.base, base);
  EXPECT_EQ(save.offset, offset);
}

// push rbp; mov rbp, rsp; sub rsp, 32; call; add rsp, 32; pop rbp; ret
const auto usual = bytes({0x55, 0x48, 0x8b, 0xec, 0x48, 0x83, 0xec, 0x20, 0xe8, 0, 0, 0, 0, 0x48,
                          0x83, 0xc4, 0x20, 0x5d, 0xc3});

TEST(UnwindCode, TheFrameIsFoundAtEachInstructionOfAFunction) {
  FrameOfCode frame = find(usual, 0);
  EXPECT_EQ(frame.kind, Kind::exact);
  expect_return_at(frame, rsp, 0);
  EXPECT_EQ(save_of(frame, rbp).kind, SaveKind::in_base);  // it is still the caller's
  EXPECT_EQ(frame.rule.cfa.offset, 8);
  frame = find(usual, 1);  // behind the push
  EXPECT_EQ(frame.kind, Kind::exact);
  expect_return_at(frame, rsp, 8);
  expect_frame_pointer_at(frame, rsp, 0);
  EXPECT_EQ(find(usual, 4).kind, Kind::framed);
  EXPECT_EQ(find(usual, 8).kind, Kind::framed);
  frame = find(usual, 13);  // behind the call
  EXPECT_EQ(frame.kind, Kind::exact);
  expect_return_at(frame, rsp, 40);
  expect_frame_pointer_at(frame, rsp, 32);
  frame = find(usual, 17);
  expect_return_at(frame, rsp, 8);
  frame = find(usual, 18);  // at the return
  EXPECT_EQ(frame.kind, Kind::exact);
  expect_return_at(frame, rsp, 0);
}

// sub rsp, 24; mov [rsp+16], rbp; mov rbp, rsp; add rbp, 16; call
TEST(UnwindCode, AFrameMayBeMadeByOneSubtraction) {
  const auto code = bytes({0x48, 0x83, 0xec, 0x18, 0x48, 0x89, 0x6c, 0x24, 0x10, 0x48, 0x8b,
                           0xec, 0x48, 0x83, 0xc5, 0x10, 0xe8, 0,    0,    0,    0});
  expect_return_at(find(code, 0), rsp, 0);
  EXPECT_EQ(save_of(find(code, 0), rbp).kind, SaveKind::in_base);
  expect_return_at(find(code, 4), rsp, 24);
  expect_return_at(find(code, 9), rsp, 24);
  expect_frame_pointer_at(find(code, 9), rsp, 16);
}

TEST(UnwindCode, AFunctionWithoutAFrameHasItsReturnAddressOnTop) {
  const auto code =
      bytes({0x48, 0x8b, 0x06, 0x48, 0x85, 0xc0, 0x74, 0x01, 0x90, 0xc3});  // je over nop
  expect_return_at(find(code, 0), rsp, 0);
  // ret 16
  const auto with_arguments = find(bytes({0xc2, 0x10, 0x00}));
  EXPECT_EQ(with_arguments.rule.cfa.offset, 24);
}

// As the entry of an interpreted method: pop rax; lea r14, [rsp+rcx*8-8]; push 0; push rax; push
// rbp; mov rbp, rsp; push r13; call
TEST(UnwindCode, TheReturnAddressMayBeInARegister) {
  const auto code = bytes({0x58, 0x4c, 0x8d, 0x74, 0xcc, 0xf8, 0x6a, 0x00, 0x50, 0x55,
                           0x48, 0x8b, 0xec, 0x41, 0x55, 0xe8, 0,    0,    0,    0});
  const FrameOfCode first = find(code, 0);
  EXPECT_EQ(first.kind, Kind::exact);
  expect_return_at(first, rsp, 0);
  EXPECT_EQ(first.rule.cfa.offset, 8);
  const unwind::Save save = save_of(find(code, 1), unwind::return_address);
  EXPECT_EQ(save.kind, SaveKind::in_base);
  EXPECT_EQ(save.base, rax);
  EXPECT_EQ(save.offset, 0);
}

// As a function of V8 removes its arguments: mov rsp, rbp; pop rbp; pop r10; lea rsp, [rsp+rcx*8];
// push r10; ret
TEST(UnwindCode, AFunctionMayRemoveANumberOfArgumentsThatIsNotKnown) {
  const auto code =
      bytes({0x48, 0x8b, 0xe5, 0x5d, 0x41, 0x5a, 0x48, 0x8d, 0x24, 0xcc, 0x41, 0x52, 0xc3});
  expect_return_at(find(code, 0), rbp, 8);
  expect_frame_pointer_at(find(code, 0), rbp, 0);
  expect_return_at(find(code, 4), rsp, 0);
  EXPECT_EQ(save_of(find(code, 6), unwind::return_address).kind, SaveKind::in_base);
}

// As the interpreter of Java returns: mov rbx, [rbp-8]; leave; pop rsi; mov rsp, rbx; jmp rsi
TEST(UnwindCode, AJumpToAWordFromTheStackIsAReturn) {
  const auto code = bytes({0x48, 0x8b, 0x5d, 0xf8, 0xc9, 0x5e, 0x48, 0x8b, 0xe3, 0xff, 0xe6});
  EXPECT_EQ(find(code, 0).kind, Kind::exact);
  expect_return_at(find(code, 0), rbp, 8);
  expect_return_at(find(code, 5), rsp, 0);
}

// As an adapter from interpreted to compiled code: mov rax, [rsp]; mov r11, rsp; and rsp, -16; push
// rax; mov r11, [rbx+64]; jmp r11
TEST(UnwindCode, AJumpMayLeaveTheFunction) {
  const auto code = bytes({0x48, 0x8b, 0x04, 0x24, 0x4c, 0x8b, 0xdc, 0x48, 0x83, 0xe4, 0xf0, 0x50,
                           0x4c, 0x8b, 0x5b, 0x40, 0x41, 0xff, 0xe3});
  EXPECT_EQ(find(code, 0).kind, Kind::tail);
  expect_return_at(find(code, 0), rsp, 0);
  // A table of jumps: jmp [r10+rbx*8]
  EXPECT_EQ(find(bytes({0x41, 0xff, 0x24, 0xda})).kind, Kind::unknown);
  // A call on an aligned stack says nothing: and rsp, -16; call
  EXPECT_EQ(find(bytes({0x48, 0x83, 0xe4, 0xf0, 0xe8, 0, 0, 0, 0})).kind, Kind::unknown);
}

TEST(UnwindCode, OtherWaysAreTriedWhereOneEnds) {
  // je 3 bytes on; ud2; nop; ret
  const FrameOfCode frame = find(bytes({0x74, 0x03, 0x0f, 0x0b, 0x90, 0xc3}));
  EXPECT_EQ(frame.kind, Kind::exact);
  expect_return_at(frame, rsp, 0);
  EXPECT_EQ(find(bytes({0xeb, 0xfe})).kind, Kind::unknown);  // a loop
  EXPECT_EQ(find({}).kind, Kind::unknown);
  EXPECT_EQ(find(usual, usual.size()).kind, Kind::unknown);
}

TEST(UnwindCode, AnyBytesHaveAnAnswer) {
  std::mt19937 random(20);
  std::vector<std::byte> code(2048);
  for (int i = 0; i < 2000; ++i) {
    for (std::byte& one : code) one = static_cast<std::byte>(random());
    const FrameOfCode frame = find(code, random() % code.size());
    EXPECT_LE(frame.rule.cfa.saves, frame.rule.saves.size());
  }
}

// ---- functions that this program's compiler has made, with frame pointers ----

#define FRAMED [[gnu::section("framed_code"), gnu::noinline]]
extern "C" const std::byte __start_framed_code[], __stop_framed_code[];

volatile int sink;

FRAMED int leaf(int number) {
  return number * 3 + 1;
}

FRAMED int loops(int number) {
  int sum = 0;
  for (int i = 0; i < number; ++i) sum += leaf(i) ^ sink;
  return sum;
}

FRAMED int many(int a, int b, int c, int d, int e, int f, int g, int h) {
  volatile int space[64] = {a, b, c, d, e, f, g, h};
  if (a == b) return space[c & 63];
  return loops(a) + loops(b) + leaf(space[d & 63]) * many(b, a, c, d, e, f, g, h);
}

FRAMED int sized(int number) {
  auto* space = static_cast<volatile char*>(__builtin_alloca(static_cast<size_t>(number)));
  space[0] = 1;
  return leaf(space[0]) + number;
}

// Both count from the same register, or it cannot be compared.
void compare(const FrameOfCode& frame, const unwind::OwnedRule& rule, uint64_t address,
             int& compared) {
  if (frame.kind == Kind::framed) {
    ++compared;
    EXPECT_TRUE(rule.cfa.base == rbp && rule.cfa.offset == 16) << std::hex << address;
  }
  const unwind::Save save = save_of(frame, unwind::return_address);
  if (frame.kind != Kind::exact || save.base != rule.cfa.base) return;
  ++compared;
  EXPECT_EQ(save.offset, rule.cfa.offset - 8) << std::hex << address;
}

TEST(UnwindCode, ItAgreesWithTheTablesOfCompiledFunctions) {
  sink = many(1, 1, 0, 0, 0, 0, 0, 0) + sized(3);
  const std::span code(__start_framed_code, __stop_framed_code);
  const auto begin = reinterpret_cast<uint64_t>(code.data());
  const unwind::CodeReader reader;
  const pi::Disassembler disassembler;
  int compared = 0, instructions = 0;
  for (size_t offset = 0; offset < code.size(); ++instructions) {
    const uint64_t address = begin + offset;
    const auto rule = unwind::find_rule(address);
    if (rule.cfa.kind == unwind::CfaKind::offset)
      compare(reader.find(code, begin, address), rule, address, compared);
    offset += disassembler.decode(code.subspan(offset), address).length;
  }
  EXPECT_THAT(instructions, Gt(60));
  EXPECT_THAT(compared, Gt(instructions / 2));
}

}  // namespace
