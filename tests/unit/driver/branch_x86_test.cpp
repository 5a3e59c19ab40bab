// SPDX-License-Identifier: MIT
// Classification of instructions by the step handlers: each kind by hand, random bytes against
// Zydis.
#include <Zydis/Zydis.h>
#include <gtest/gtest.h>
#include <pitrace/branch_x86.h>

#include <array>
#include <cstdint>
#include <initializer_list>
#include <random>
#include <vector>

namespace {

constexpr bool code64 = true;
constexpr bool code32 = false;

pitrace_insn classify(std::vector<std::uint8_t> bytes, bool is64 = code64) {
  const auto valid = static_cast<std::uint32_t>(bytes.size());
  return pitrace_classify(bytes.data(), valid, is64);
}

TEST(Branch, ClassifiesEachKindOfInstruction) {
  struct Case {
    std::vector<std::uint8_t> bytes;
    int kind;
    int length;
  };
  const std::vector<Case> cases = {
      {{0x74, 0x05}, PITRACE_INSN_CONDITIONAL, 2},
      {{0xe0, 0xfe}, PITRACE_INSN_CONDITIONAL, 2},        // loopne
      {{0x67, 0xe3, 0x10}, PITRACE_INSN_CONDITIONAL, 3},  // jecxz
      {{0x0f, 0x8f, 1, 0, 0, 0}, PITRACE_INSN_CONDITIONAL, 6},
      {{0x2e, 0x0f, 0x84, 1, 0, 0, 0}, PITRACE_INSN_CONDITIONAL, 7},
      {{0xc7, 0xf8, 1, 0, 0, 0}, PITRACE_INSN_CONDITIONAL, 6},  // xbegin
      {{0xc7, 0x00, 1, 0, 0, 0}, PITRACE_INSN_OTHER, 0},        // mov
      {{0xeb, 0x00}, PITRACE_INSN_JUMP, 2},
      {{0xe9, 1, 0, 0, 0}, PITRACE_INSN_JUMP, 5},
      {{0xe8, 1, 0, 0, 0}, PITRACE_INSN_CALL, 5},
      {{0x66, 0x66, 0x48, 0xe8, 1, 0, 0, 0}, PITRACE_INSN_CALL, 8},  // as in thread-local storage
      {{0xff, 0xd0}, PITRACE_INSN_CALL_INDIRECT, 0},
      {{0x41, 0xff, 0x55, 0x08}, PITRACE_INSN_CALL_INDIRECT, 0},
      {{0x48, 0xff, 0x1d, 0, 0, 0, 0}, PITRACE_INSN_CALL_INDIRECT, 0},  // far
      {{0xff, 0xe0}, PITRACE_INSN_JUMP_INDIRECT, 0},
      {{0xf2, 0xff, 0x25, 0, 0, 0, 0}, PITRACE_INSN_JUMP_INDIRECT, 0},
      {{0xff, 0x2c, 0x24}, PITRACE_INSN_JUMP_INDIRECT, 0},  // far
      {{0xff, 0xc0}, PITRACE_INSN_OTHER, 0},                // inc
      {{0xff, 0x30}, PITRACE_INSN_OTHER, 0},                // push
      {{0xc3}, PITRACE_INSN_RETURN, 1},
      {{0xf3, 0xc3}, PITRACE_INSN_RETURN, 2},
      {{0xc2, 8, 0}, PITRACE_INSN_RETURN, 3},
      {{0x48, 0xcb}, PITRACE_INSN_RETURN, 2},
      {{0xca, 8, 0}, PITRACE_INSN_RETURN, 3},
      {{0x0f, 0x05}, PITRACE_INSN_SYSCALL, 2},
      {{0x0f, 0x34}, PITRACE_INSN_SYSENTER, 2},
      {{0x48, 0x0f, 0x07}, PITRACE_INSN_SYSRET, 3},
      {{0x0f, 0x07}, PITRACE_INSN_SYSRET, 2},
      {{0x48, 0x0f, 0x35}, PITRACE_INSN_SYSEXIT, 3},
      {{0x48, 0xcf}, PITRACE_INSN_IRET, 2},
      {{0xcf}, PITRACE_INSN_IRET, 1},
      {{0xcc}, PITRACE_INSN_INT, 1},
      {{0xcd, 0x80}, PITRACE_INSN_INT, 2},
      {{0xf1}, PITRACE_INSN_INT, 1},
      {{0x9c}, PITRACE_INSN_PUSHF, 1},
      {{0x66, 0x9d}, PITRACE_INSN_POPF, 2},
      {{0x8e, 0xd0}, PITRACE_INSN_SHADOW, 0},
      {{0xfb}, PITRACE_INSN_SHADOW, 1},
      {{0xf3, 0x90}, PITRACE_INSN_SHADOW, 2},
      {{0x8e, 0xd8}, PITRACE_INSN_OTHER, 0},  // mov to ds
      {{0x0f, 0x0b}, PITRACE_INSN_OTHER, 0},
  };
  for (const auto& c : cases) {
    const pitrace_insn insn = classify(c.bytes);
    EXPECT_EQ(insn.kind, c.kind) << "first byte " << int{c.bytes[0]};
    EXPECT_EQ(insn.length, c.length) << "first byte " << int{c.bytes[0]};
  }
}

TEST(Branch, Classifies32BitCode) {
  EXPECT_EQ(classify({0x40}, code32).kind, PITRACE_INSN_OTHER);
  EXPECT_EQ(classify({0x48, 0xe8, 1, 0, 0, 0}, code32).kind, PITRACE_INSN_OTHER);  // dec eax
  EXPECT_EQ(classify({0x9a, 1, 2, 3, 4, 5, 6}, code32).kind, PITRACE_INSN_CALL_INDIRECT);
  EXPECT_EQ(classify({0xea, 1, 2, 3, 4, 5, 6}, code32).kind, PITRACE_INSN_JUMP_INDIRECT);
  EXPECT_EQ(classify({0xea, 1, 2, 3, 4, 5, 6}, code64).kind, PITRACE_INSN_OTHER);
  EXPECT_EQ(classify({0xce}, code32).kind, PITRACE_INSN_INT);
  EXPECT_EQ(classify({0x17}, code32).kind, PITRACE_INSN_SHADOW);
  const pitrace_insn narrow = classify({0x66, 0xe8, 0x34, 0x12}, code32);
  EXPECT_EQ(narrow.kind, PITRACE_INSN_CALL);
  EXPECT_EQ(narrow.length, 4);
  EXPECT_EQ(narrow.displacement, 0x1234);
}

TEST(Branch, TruncatedInstructionsAreReportedAsCut) {
  EXPECT_EQ(classify({}).kind, PITRACE_INSN_CUT);
  EXPECT_EQ(classify({0x48}).kind, PITRACE_INSN_CUT);
  EXPECT_EQ(classify({0x0f}).kind, PITRACE_INSN_CUT);
  EXPECT_EQ(classify({0xff}).kind, PITRACE_INSN_CUT);
  EXPECT_EQ(classify({0x74}).kind, PITRACE_INSN_CUT);
  EXPECT_EQ(classify({0xe8, 1, 2, 3}).kind, PITRACE_INSN_CUT);
  EXPECT_EQ(classify({0x8b}).kind, PITRACE_INSN_OTHER);
  // A prefix sequence of the maximum instruction length is invalid.
  EXPECT_EQ(classify(std::vector<std::uint8_t>(15, 0x66)).kind, PITRACE_INSN_OTHER);
  std::vector<std::uint8_t> bytes(15, 0x66);
  bytes[11] = 0xe8;
  EXPECT_EQ(classify(bytes).kind, PITRACE_INSN_OTHER);
}

TEST(Branch, ClassifiesTheOutcomeOfAStep) {
  const std::uint64_t from = 0x401000;
  const pitrace_insn jump = classify({0x74, 0x05});
  EXPECT_EQ(pitrace_step_outcome(jump, from, from + 2), PITRACE_STEP_NEXT);
  EXPECT_EQ(pitrace_step_outcome(jump, from, from + 7), PITRACE_STEP_TAKEN);
  EXPECT_EQ(pitrace_step_outcome(jump, from, from + 3), PITRACE_STEP_DIVERTED);
  // A jump to the next instruction: a conditional jump gives NEXT, an unconditional one TAKEN.
  EXPECT_EQ(pitrace_step_outcome(classify({0x74, 0}), from, from + 2), PITRACE_STEP_NEXT);
  EXPECT_EQ(pitrace_step_outcome(classify({0xeb, 0}), from, from + 2), PITRACE_STEP_TAKEN);
  // A jump to itself is a branch, not an iteration.
  EXPECT_EQ(pitrace_step_outcome(classify({0xeb, 0xfe}), from, from), PITRACE_STEP_TAKEN);
  EXPECT_EQ(pitrace_step_outcome(classify({0xe8, 0xfb, 0xff, 0xff, 0xff}), from, from),
            PITRACE_STEP_TAKEN);
  // A step forward by less than an instruction's length may be a short return or jump.
  EXPECT_EQ(pitrace_step_outcome(classify({0xc3}), from, from + 1), PITRACE_STEP_TAKEN);
  EXPECT_EQ(pitrace_step_outcome(classify({0xff, 0xe0}), from, from + 2), PITRACE_STEP_TAKEN);
  const pitrace_insn stosb = classify({0xf3, 0xaa});
  EXPECT_EQ(pitrace_step_outcome(stosb, from, from), PITRACE_STEP_AGAIN);
  EXPECT_EQ(pitrace_step_outcome(stosb, from, from + 2), PITRACE_STEP_NEXT);
  EXPECT_EQ(pitrace_step_outcome(stosb, from, from + 16), PITRACE_STEP_DIVERTED);
  EXPECT_EQ(pitrace_step_outcome(stosb, from, from - 1), PITRACE_STEP_DIVERTED);
}

TEST(Branch, WrapsAddressesOf32BitCode) {
  const pitrace_insn jump = classify({0xe9, 0xfb, 0xff, 0xff, 0x7f}, code32);
  EXPECT_EQ(pitrace_step_outcome(jump, 0xf0000000, 0x70000000), PITRACE_STEP_TAKEN);
  EXPECT_EQ(pitrace_step_outcome(classify({0x90}, code32), 0xffffffff, 0), PITRACE_STEP_NEXT);
}

// Prefix 66 on a near branch of 32-bit code truncates the target to 16 bits, whatever the size of
// the displacement.
TEST(Branch, Prefix66TruncatesTargetsOf32BitCode) {
  const std::uint64_t from = 0x08049000;
  const std::vector<std::vector<std::uint8_t>> branches = {
      {0x66, 0xe9, 0x10, 0x00}, {0x66, 0xe8, 0x10, 0x00}, {0x66, 0xeb, 0x11},
      {0x66, 0x74, 0x11},       {0x66, 0xe2, 0x11},       {0x66, 0x0f, 0x84, 0x0f, 0x00}};
  for (const auto& bytes : branches) {
    const pitrace_insn branch = classify(bytes, code32);
    EXPECT_EQ(pitrace_branch_target(branch, from), 0x9014u) << int{bytes[1]};
    EXPECT_EQ(pitrace_step_outcome(branch, from, 0x9014), PITRACE_STEP_TAKEN);
    EXPECT_EQ(pitrace_step_outcome(branch, from, from + 0x14), PITRACE_STEP_DIVERTED);
  }
  // The prefix does not change xbegin or 64-bit code; a branch without it is not truncated.
  EXPECT_EQ(pitrace_branch_target(classify({0x66, 0xc7, 0xf8, 0x0f, 0x00}, code32), from),
            from + 0x14);
  EXPECT_EQ(pitrace_branch_target(classify({0xeb, 0x12}, code32), from), from + 0x14);
  EXPECT_EQ(pitrace_branch_target(classify({0x66, 0xeb, 0x11}, code64), from), from + 0x14);
}

// Maps Zydis's decoding of an instruction to our kinds.
int kind_by_zydis(const ZydisDecodedInstruction& insn) {
  switch (insn.mnemonic) {
    case ZYDIS_MNEMONIC_SYSCALL:
      return PITRACE_INSN_SYSCALL;
    case ZYDIS_MNEMONIC_SYSENTER:
      return PITRACE_INSN_SYSENTER;
    case ZYDIS_MNEMONIC_SYSRET:
      return PITRACE_INSN_SYSRET;
    case ZYDIS_MNEMONIC_SYSEXIT:
      return PITRACE_INSN_SYSEXIT;
    case ZYDIS_MNEMONIC_IRET:
    case ZYDIS_MNEMONIC_IRETD:
    case ZYDIS_MNEMONIC_IRETQ:
      return PITRACE_INSN_IRET;
    case ZYDIS_MNEMONIC_INT:
    case ZYDIS_MNEMONIC_INT1:
    case ZYDIS_MNEMONIC_INT3:
    case ZYDIS_MNEMONIC_INTO:
      return PITRACE_INSN_INT;
    case ZYDIS_MNEMONIC_PUSHF:
    case ZYDIS_MNEMONIC_PUSHFD:
    case ZYDIS_MNEMONIC_PUSHFQ:
      return PITRACE_INSN_PUSHF;
    case ZYDIS_MNEMONIC_POPF:
    case ZYDIS_MNEMONIC_POPFD:
    case ZYDIS_MNEMONIC_POPFQ:
      return PITRACE_INSN_POPF;
    case ZYDIS_MNEMONIC_XBEGIN:
      return PITRACE_INSN_CONDITIONAL;
    case ZYDIS_MNEMONIC_STI:
      return PITRACE_INSN_SHADOW;
    case ZYDIS_MNEMONIC_NOP:
    case ZYDIS_MNEMONIC_PAUSE:
    case ZYDIS_MNEMONIC_XCHG:
      return insn.opcode_map == ZYDIS_OPCODE_MAP_DEFAULT && insn.opcode == 0x90
                 ? PITRACE_INSN_SHADOW
                 : PITRACE_INSN_OTHER;
    case ZYDIS_MNEMONIC_MOV:
      return insn.opcode == 0x8e && (insn.raw.modrm.reg == 2) ? PITRACE_INSN_SHADOW
                                                              : PITRACE_INSN_OTHER;
    case ZYDIS_MNEMONIC_POP:
      return insn.opcode_map == ZYDIS_OPCODE_MAP_DEFAULT && insn.opcode == 0x17
                 ? PITRACE_INSN_SHADOW
                 : PITRACE_INSN_OTHER;
    // Instructions of processors that run no supported kernel; and a transaction does not survive a
    // trap.
    case ZYDIS_MNEMONIC_JKZD:
    case ZYDIS_MNEMONIC_JKNZD:
    case ZYDIS_MNEMONIC_XABORT:
    case ZYDIS_MNEMONIC_UIRET:
      return PITRACE_INSN_OTHER;
    default:
      break;
  }
  const bool relative =
      (insn.attributes & ZYDIS_ATTRIB_IS_RELATIVE) != 0 && insn.raw.imm[0].is_relative;
  switch (insn.meta.category) {
    case ZYDIS_CATEGORY_COND_BR:
      return relative ? PITRACE_INSN_CONDITIONAL : PITRACE_INSN_OTHER;
    case ZYDIS_CATEGORY_UNCOND_BR:
      return relative ? PITRACE_INSN_JUMP : PITRACE_INSN_JUMP_INDIRECT;
    case ZYDIS_CATEGORY_CALL:
      return relative ? PITRACE_INSN_CALL : PITRACE_INSN_CALL_INDIRECT;
    case ZYDIS_CATEGORY_RET:
      return PITRACE_INSN_RETURN;
    default:
      return PITRACE_INSN_OTHER;
  }
}

// Bytes that are prefixes and branches more often than in uniformly random bytes.
std::array<std::uint8_t, PITRACE_INSN_MAX> draw(std::mt19937& random) {
  static constexpr std::array<std::uint8_t, 29> favoured = {
      0x66, 0x67, 0xf2, 0xf3, 0x2e, 0x3e, 0x48, 0x40, 0x0f, 0x05, 0x07, 0x34, 0x35, 0x84, 0xff,
      0xe8, 0xe9, 0xeb, 0xc2, 0xc3, 0xca, 0xcb, 0xcf, 0x9a, 0xea, 0xc7, 0x8e, 0xe3, 0x17};
  std::array<std::uint8_t, PITRACE_INSN_MAX> bytes{};
  for (auto& byte : bytes) byte = static_cast<std::uint8_t>(random());
  const unsigned long chosen = random() % 5;
  for (unsigned long i = 0; i < chosen; i++) bytes[i] = favoured[random() % favoured.size()];
  return bytes;
}

void compare_with_zydis(bool is64) {
  ZydisDecoder decoder;
  ASSERT_TRUE(ZYAN_SUCCESS(ZydisDecoderInit(
      &decoder, is64 ? ZYDIS_MACHINE_MODE_LONG_64 : ZYDIS_MACHINE_MODE_LONG_COMPAT_32,
      is64 ? ZYDIS_STACK_WIDTH_64 : ZYDIS_STACK_WIDTH_32)));
  std::mt19937 random(7);
  int branches = 0;
  for (int round = 0; round < 2000000; round++) {
    const auto bytes = draw(random);
    ZydisDecodedInstruction by_zydis;
    if (!ZYAN_SUCCESS(ZydisDecoderDecodeInstruction(&decoder, nullptr, bytes.data(), bytes.size(),
                                                    &by_zydis)))
      continue;
    const pitrace_insn ours =
        pitrace_classify(bytes.data(), static_cast<std::uint32_t>(bytes.size()), is64);
    ASSERT_EQ(int{ours.kind}, kind_by_zydis(by_zydis))
        << ZydisMnemonicGetString(by_zydis.mnemonic) << " in round " << round;
    if (ours.length) {
      ASSERT_EQ(ours.length, by_zydis.length) << "in round " << round;
    }
    if (ours.kind < PITRACE_INSN_CONDITIONAL || ours.kind > PITRACE_INSN_CALL) continue;
    ASSERT_EQ(ours.displacement, by_zydis.raw.imm[0].value.s) << "in round " << round;
    constexpr std::uint64_t from = 0x12345678;
    std::uint64_t target = from + by_zydis.length + static_cast<std::uint64_t>(ours.displacement);
    if (!is64) target &= UINT32_MAX;
    const bool cut = by_zydis.operand_width == 16 && by_zydis.mnemonic != ZYDIS_MNEMONIC_XBEGIN;
    if (!is64 && cut) target &= UINT16_MAX;
    ASSERT_EQ(pitrace_branch_target(ours, from), target) << "in round " << round;
    branches++;
  }
  EXPECT_GT(branches, 100000);
}

TEST(Branch, AgreesWithZydisOn64BitCode) {
  compare_with_zydis(code64);
}
TEST(Branch, AgreesWithZydisOn32BitCode) {
  compare_with_zydis(code32);
}

}  // namespace
