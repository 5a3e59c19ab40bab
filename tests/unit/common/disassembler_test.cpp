// SPDX-License-Identifier: MIT
// Decoding of machine code: encodings from the processor's manual, instruction lengths from
// objdump.
#include <disassembler.h>
#include <gtest/gtest.h>

#include <cctype>
#include <cstdio>
#include <initializer_list>
#include <memory>
#include <string>
#include <vector>

namespace {

using pi::Disassembler;
using pi::Flow;
using pi::Instruction;

std::vector<std::byte> bytes(std::initializer_list<int> values) {
  std::vector<std::byte> out;
  for (const int value : values) out.push_back(static_cast<std::byte>(value));
  return out;
}

TEST(Disassembler, DecodesEachKindOfFlow) {
  struct Case {
    std::vector<std::byte> code;
    Flow flow;
    const char* text;
  };
  const Case cases[] = {
      {bytes({0x55}), Flow::next, "push rbp"},
      {bytes({0xf3, 0xa4}), Flow::next, "rep movsb"},
      {bytes({0xff, 0xd0}), Flow::call, "call rax"},
      {bytes({0xc3}), Flow::ret, "ret"},
      {bytes({0xff, 0xe0}), Flow::jump, "jmp rax"},
      {bytes({0x0f, 0x05}), Flow::system_call, "syscall"},
      {bytes({0xcc}), Flow::interrupt, "int3"},
      {bytes({0x48, 0xcf}), Flow::interrupt_return, "iretq"},
      {bytes({0x0f, 0x0b}), Flow::stop, "ud2"},
  };
  const Disassembler disassembler;
  for (const Case& known : cases) {
    const Instruction instruction = disassembler.decode(known.code, 0x1000);
    EXPECT_TRUE(instruction.valid) << known.text;
    EXPECT_EQ(instruction.length, known.code.size()) << known.text;
    EXPECT_EQ(instruction.flow, known.flow) << known.text;
    EXPECT_FALSE(instruction.target) << known.text;
    EXPECT_EQ(disassembler.text(known.code, 0x1000), known.text);
  }
}

TEST(Disassembler, ComputesTargetsOfDirectBranches) {
  const Disassembler disassembler;
  const auto call = disassembler.decode(bytes({0xe8, 0x10, 0, 0, 0}), 0x1000);
  EXPECT_EQ(call.flow, Flow::call);
  EXPECT_EQ(call.target, 0x1015u);
  const auto back = disassembler.decode(bytes({0x75, 0xfe}), 0x1000);
  EXPECT_EQ(back.flow, Flow::conditional_jump);
  EXPECT_EQ(back.target, 0x1000u);
  EXPECT_EQ(disassembler.decode(bytes({0xe3, 0x00}), 0x1000).flow, Flow::conditional_jump);
}

TEST(Disassembler, DecodesBy32Or64BitMode) {
  const auto code = bytes({0x40});  // a REX prefix in 64-bit code
  EXPECT_FALSE(Disassembler(true).decode(code, 0).valid);
  EXPECT_EQ(Disassembler(false).text(code, 0), "inc eax");
}

TEST(Disassembler, AnInvalidInstructionHasOneByte) {
  const Disassembler disassembler;
  for (const auto& code : {bytes({0x06}), bytes({0xe8, 0x10}), bytes({0x48})}) {
    const Instruction instruction = disassembler.decode(code, 0);
    EXPECT_FALSE(instruction.valid);
    EXPECT_EQ(instruction.length, 1);
    EXPECT_EQ(disassembler.text(code, 0), "(bad)");
  }
}

// Decodes this program's own .text and compares with objdump -d.
TEST(Disassembler, AgreesWithObjdumpOnInstructionLengths) {
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> listing(
      ::popen("objdump -d -w -j .text /proc/$PPID/exe", "r"), ::pclose);
  ASSERT_TRUE(listing);
  const Disassembler disassembler;
  char line[1024];
  size_t compared = 0;
  while (std::fgets(line, sizeof line, listing.get())) {
    const std::string text = line;
    const size_t colon = text.find(":\t");
    if (colon == std::string::npos) continue;
    std::vector<std::byte> code;
    for (size_t at = colon + 2; at + 1 < text.size() && std::isxdigit(text[at]); at += 3)
      code.push_back(static_cast<std::byte>(std::stoi(text.substr(at, 2), nullptr, 16)));
    if (text.find("(bad)") != std::string::npos || code.empty()) continue;
    const Instruction instruction = disassembler.decode(code, 0);
    ASSERT_TRUE(instruction.valid) << text;
    ASSERT_EQ(instruction.length, code.size()) << text;
    ++compared;
  }
  EXPECT_GT(compared, 1000u);
}

}  // namespace
