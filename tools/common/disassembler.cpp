// SPDX-License-Identifier: MIT
// Machine code to instructions, by Zydis.
#include "disassembler.h"

#include <Zydis/Zydis.h>

#include <array>

namespace pi {
namespace {

constexpr const char* not_code = "(bad)";

struct Decoded {
  ZydisDecodedInstruction instruction{};
  std::array<ZydisDecodedOperand, ZYDIS_MAX_OPERAND_COUNT> operands{};
};

Flow flow_of(const ZydisDecodedInstruction& instruction) {
  switch (instruction.mnemonic) {
    case ZYDIS_MNEMONIC_SYSCALL:
    case ZYDIS_MNEMONIC_SYSENTER:
      return Flow::system_call;
    case ZYDIS_MNEMONIC_IRET:
    case ZYDIS_MNEMONIC_IRETD:
    case ZYDIS_MNEMONIC_IRETQ:
    case ZYDIS_MNEMONIC_SYSRET:
    case ZYDIS_MNEMONIC_SYSEXIT:
    case ZYDIS_MNEMONIC_UIRET:
      return Flow::interrupt_return;
    case ZYDIS_MNEMONIC_HLT:
    case ZYDIS_MNEMONIC_UD0:
    case ZYDIS_MNEMONIC_UD1:
    case ZYDIS_MNEMONIC_UD2:
      return Flow::stop;
    default:
      break;
  }
  switch (instruction.meta.category) {
    case ZYDIS_CATEGORY_CALL:
      return Flow::call;
    case ZYDIS_CATEGORY_RET:
      return Flow::ret;
    case ZYDIS_CATEGORY_UNCOND_BR:
      return Flow::jump;
    case ZYDIS_CATEGORY_COND_BR:
      return Flow::conditional_jump;
    case ZYDIS_CATEGORY_INTERRUPT:
      return Flow::interrupt;
    default:
      return Flow::next;
  }
}

bool is_branch(Flow flow) {
  return flow == Flow::call || flow == Flow::jump || flow == Flow::conditional_jump;
}

}  // namespace

struct Disassembler::Engine {
  ZydisDecoder decoder{};
  ZydisFormatter formatter{};

  bool decode(std::span<const std::byte> code, Decoded& out) const {
    return ZYAN_SUCCESS(ZydisDecoderDecodeFull(&decoder, code.data(), code.size(), &out.instruction,
                                               out.operands.data()));
  }
};

Disassembler::Disassembler(bool is_64) : engine_(std::make_unique<Engine>()) {
  ZydisDecoderInit(&engine_->decoder,
                   is_64 ? ZYDIS_MACHINE_MODE_LONG_64 : ZYDIS_MACHINE_MODE_LEGACY_32,
                   is_64 ? ZYDIS_STACK_WIDTH_64 : ZYDIS_STACK_WIDTH_32);
  ZydisFormatterInit(&engine_->formatter, ZYDIS_FORMATTER_STYLE_INTEL);
}

Disassembler::~Disassembler() = default;

Instruction Disassembler::decode(std::span<const std::byte> code, uint64_t address) const {
  Decoded decoded;
  if (!engine_->decode(code, decoded)) return {};
  constexpr ZydisInstructionAttributes repeat =
      ZYDIS_ATTRIB_HAS_REP | ZYDIS_ATTRIB_HAS_REPE | ZYDIS_ATTRIB_HAS_REPNE;
  Instruction result{decoded.instruction.length,
                     true,
                     flow_of(decoded.instruction),
                     (decoded.instruction.attributes & repeat) != 0,
                     {}};
  const ZydisDecodedOperand& first = decoded.operands[0];
  if (is_branch(result.flow) && decoded.instruction.operand_count_visible != 0 &&
      first.type == ZYDIS_OPERAND_TYPE_IMMEDIATE && first.imm.is_relative) {
    ZyanU64 target = 0;
    if (ZYAN_SUCCESS(ZydisCalcAbsoluteAddress(&decoded.instruction, &first, address, &target)))
      result.target = target;
  }
  return result;
}

std::string Disassembler::text(std::span<const std::byte> code, uint64_t address) const {
  Decoded decoded;
  std::array<char, 256> buffer{};
  if (!engine_->decode(code, decoded) ||
      !ZYAN_SUCCESS(ZydisFormatterFormatInstruction(
          &engine_->formatter, &decoded.instruction, decoded.operands.data(),
          decoded.instruction.operand_count_visible, buffer.data(), buffer.size(), address,
          nullptr)))
    return not_code;
  return buffer.data();
}

}  // namespace pi
