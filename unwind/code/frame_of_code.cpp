// SPDX-License-Identifier: MIT
// Where the caller's registers are at an instruction, by Zydis.
#include "frame_of_code.h"

#include <Zydis/Zydis.h>

#include <algorithm>
#include <array>
#include <optional>
#include <vector>

#include "stack_effects.h"

namespace unwind {
namespace {

constexpr unsigned max_instructions = 400;
constexpr size_t max_ways = 32;

struct Decoded {
  ZydisDecodedInstruction instruction{};
  std::array<ZydisDecodedOperand, ZYDIS_MAX_OPERAND_COUNT> operands{};

  const ZydisDecodedOperand& operand(size_t number) const { return operands[number]; }
  std::span<const ZydisDecodedOperand> all() const {
    return std::span(operands).first(instruction.operand_count);
  }
};

// The DWARF number of a register of 64 bits.
std::optional<unsigned> number_of(ZydisRegister reg) {
  constexpr std::array<uint8_t, 16> numbers = {0, 2, 1,  3,  7,  6,  4,  5,
                                               8, 9, 10, 11, 12, 13, 14, 15};
  if (reg < ZYDIS_REGISTER_RAX || reg > ZYDIS_REGISTER_R15) return std::nullopt;
  return numbers[static_cast<size_t>(reg - ZYDIS_REGISTER_RAX)];
}

std::optional<unsigned> register_of(const ZydisDecodedOperand& operand) {
  if (operand.type != ZYDIS_OPERAND_TYPE_REGISTER) return std::nullopt;
  return number_of(operand.reg.value);
}

// Of the whole register that contains it.
std::optional<unsigned> changed_by(const ZydisDecodedOperand& operand) {
  if (operand.type != ZYDIS_OPERAND_TYPE_REGISTER ||
      (operand.actions & ZYDIS_OPERAND_ACTION_MASK_WRITE) == 0)
    return std::nullopt;
  return number_of(ZydisRegisterGetLargestEnclosing(ZYDIS_MACHINE_MODE_LONG_64, operand.reg.value));
}

// The address of an operand in memory, if it is a register plus a number.
Value place_of(const ZydisDecodedOperand& operand, const StackEffects& effects) {
  if (operand.type != ZYDIS_OPERAND_TYPE_MEMORY || operand.mem.index != ZYDIS_REGISTER_NONE)
    return {};
  const auto base = number_of(operand.mem.base);
  if (!base) return {};
  return effects.get(*base).plus(operand.mem.disp.has_displacement ? operand.mem.disp.value : 0);
}

Value value_of(const ZydisDecodedOperand& operand, const StackEffects& effects) {
  if (const auto reg = register_of(operand)) return effects.get(*reg);
  const bool is_word = operand.type == ZYDIS_OPERAND_TYPE_MEMORY && operand.size == 64;
  return is_word ? effects.load(place_of(operand, effects)) : Value{};
}

void put(const ZydisDecodedOperand& operand, Value value, StackEffects& effects) {
  if (const auto reg = register_of(operand))
    effects.set(*reg, value);
  else if (operand.type == ZYDIS_OPERAND_TYPE_MEMORY)
    effects.store(place_of(operand, effects), operand.size == 64 ? value : Value{});
}

Value sum_of(const Decoded& code, const StackEffects& effects) {
  const ZydisDecodedOperand& added = code.operand(1);
  if (added.type != ZYDIS_OPERAND_TYPE_IMMEDIATE) return {};
  const int64_t number = added.imm.value.s;
  return value_of(code.operand(0), effects)
      .plus(code.instruction.mnemonic == ZYDIS_MNEMONIC_SUB ? -number : number);
}

// What an instruction without a special meaning changes is not known any more.
void forget_changes(const Decoded& code, StackEffects& effects) {
  for (const ZydisDecodedOperand& operand : code.all()) {
    if (const auto reg = changed_by(operand)) effects.set(*reg, {});
    if (operand.type == ZYDIS_OPERAND_TYPE_MEMORY &&
        (operand.actions & ZYDIS_OPERAND_ACTION_MASK_WRITE) != 0)
      effects.store(place_of(operand, effects), {});
  }
}

void apply(const Decoded& code, StackEffects& effects) {
  const auto& first = code.operand(0);
  const auto& second = code.operand(1);
  // Of 16 bits: nothing is known of the stack any more, by forget_changes().
  const bool is_wide = code.instruction.operand_width == 64;
  switch (is_wide ? code.instruction.mnemonic : ZYDIS_MNEMONIC_INVALID) {
    case ZYDIS_MNEMONIC_PUSH:
      return effects.push(value_of(first, effects));
    case ZYDIS_MNEMONIC_POP: {
      const Value value = effects.pop();
      return put(first, value, effects);
    }
    case ZYDIS_MNEMONIC_PUSHFQ:
      return effects.push({});
    case ZYDIS_MNEMONIC_POPFQ:
      (void)effects.pop();
      return;
    case ZYDIS_MNEMONIC_LEAVE:
      effects.set(stack_pointer, effects.get(frame_pointer));
      return effects.set(frame_pointer, effects.pop());
    case ZYDIS_MNEMONIC_MOV:
      return put(first, value_of(second, effects), effects);
    case ZYDIS_MNEMONIC_LEA:
      return put(first, place_of(second, effects), effects);
    case ZYDIS_MNEMONIC_ADD:
    case ZYDIS_MNEMONIC_SUB:
      return put(first, sum_of(code, effects), effects);
    case ZYDIS_MNEMONIC_XCHG: {
      const Value one = value_of(first, effects), other = value_of(second, effects);
      put(first, other, effects);
      return put(second, one, effects);
    }
    default:
      return forget_changes(code, effects);
  }
}

// Sets the frame pointer, or moves it while it is being set.
bool sets_frame_pointer(const Decoded& code) {
  const auto mnemonic = code.instruction.mnemonic;
  const auto reg =
      code.instruction.operand_count_visible != 0 ? register_of(code.operand(0)) : std::nullopt;
  return reg == frame_pointer &&
         (mnemonic == ZYDIS_MNEMONIC_MOV || mnemonic == ZYDIS_MNEMONIC_LEA ||
          mnemonic == ZYDIS_MNEMONIC_ADD || mnemonic == ZYDIS_MNEMONIC_SUB);
}

bool never_continues(const Decoded& code) {
  switch (code.instruction.mnemonic) {
    case ZYDIS_MNEMONIC_HLT:
    case ZYDIS_MNEMONIC_INT3:
    case ZYDIS_MNEMONIC_UD0:
    case ZYDIS_MNEMONIC_UD1:
    case ZYDIS_MNEMONIC_UD2:
      return true;
    default:
      return false;
  }
}

// One way through the code.
struct Way {
  uint64_t address;
  StackEffects effects;
  bool sets_frame = false;  // the last instruction has set the frame pointer
};

class Search {
 public:
  Search(const ZydisDecoder& decoder, std::span<const std::byte> code, uint64_t begin)
      : decoder_(decoder), code_(code), begin_(begin) {}

  FrameOfCode run(uint64_t address) {
    ways_.push_back({address, {}, false});
    while (!ways_.empty()) {
      Way way = std::move(ways_.back());
      ways_.pop_back();
      if (const auto found = follow(way)) return *found;
    }
    return {};
  }

 private:
  // Nothing: the way ends without an answer.
  std::optional<FrameOfCode> follow(Way& way) {
    for (Decoded code; left_ != 0 && decode(way.address, code); --left_) {
      if (way.sets_frame && !sets_frame_pointer(code))
        if (const auto found = with_frame_pointer(way)) return found;
      if (std::ranges::find(seen_, way.address) != seen_.end()) return std::nullopt;
      seen_.push_back(way.address);
      const uint64_t next = way.address + code.instruction.length;
      switch (code.instruction.meta.category) {
        case ZYDIS_CATEGORY_CALL:
          // A stub that has no frame may align the stack for its call.
          if (way.effects.is_on_other_stack()) return std::nullopt;
          return FrameOfCode{FrameOfCode::Kind::framed, {}};
        case ZYDIS_CATEGORY_RET:
          return at_return(code, way);
        case ZYDIS_CATEGORY_UNCOND_BR: {
          const auto target = target_of(code, way.address);
          if (!target) return at_jump(code, way);
          way.address = *target;
          continue;
        }
        case ZYDIS_CATEGORY_COND_BR:
          if (const auto target = target_of(code, way.address); target && ways_.size() < max_ways)
            ways_.push_back({*target, way.effects, false});
          break;
        default:
          if (never_continues(code)) return std::nullopt;
          apply(code, way.effects);
          way.sets_frame = sets_frame_pointer(code) && is_new_frame(way.effects);
          if (!way.effects.get(stack_pointer).is_place()) way.effects.change_stack();
      }
      way.address = next;
    }
    return std::nullopt;
  }

  bool decode(uint64_t address, Decoded& code) const {
    const uint64_t at = address - begin_;
    return address >= begin_ && at < code_.size() &&
           ZYAN_SUCCESS(ZydisDecoderDecodeFull(&decoder_, code_.data() + at, code_.size() - at,
                                               &code.instruction, code.operands.data()));
  }

  static std::optional<uint64_t> target_of(const Decoded& code, uint64_t address) {
    ZyanU64 target = 0;
    const ZydisDecodedOperand& first = code.operand(0);
    if (first.type != ZYDIS_OPERAND_TYPE_IMMEDIATE || !first.imm.is_relative ||
        !ZYAN_SUCCESS(ZydisCalcAbsoluteAddress(&code.instruction, &first, address, &target)))
      return std::nullopt;
    return target;
  }

  // The frame pointer has a value from the stack pointer.
  static bool is_new_frame(const StackEffects& effects) {
    const Value frame = effects.get(frame_pointer);
    return frame.is_place() && frame.base == stack_pointer;
  }

  static std::optional<FrameOfCode> found(FrameOfCode::Kind kind, Value address, Value stack,
                                          Value frame) {
    const auto rule = StackEffects::rule(address, stack, frame);
    if (!rule) return std::nullopt;
    return FrameOfCode{kind, *rule};
  }

  // The caller's frame pointer is in front of the return address.
  static std::optional<FrameOfCode> with_frame_pointer(const Way& way) {
    const Value frame = way.effects.get(frame_pointer);
    const Value callers = way.effects.load(frame);
    if (callers.kind == Value::Kind::sum && callers != Value{Value::Kind::sum, frame_pointer, 0})
      return std::nullopt;
    const Value address = way.effects.load(frame.plus(word_bytes));
    return found(FrameOfCode::Kind::exact, address, stack_above(address), callers);
  }

  // Where the caller's stack begins is not known if functions push and remove a number of words
  // that is known at run time only: behind the return address, at least. Such callers have a frame
  // pointer.
  static Value stack_above(Value address) {
    if (address.kind != Value::Kind::word) return {Value::Kind::sum, stack_pointer, 0};
    return Value{Value::Kind::sum, address.base, address.offset}.plus(word_bytes);
  }

  static std::optional<FrameOfCode> at_return(const Decoded& code, const Way& way) {
    const Value address = way.effects.load(way.effects.get(stack_pointer));
    const ZydisDecodedOperand& first = code.operand(0);
    const bool pops = first.type == ZYDIS_OPERAND_TYPE_IMMEDIATE;
    const Value stack = stack_above(address).plus(pops ? first.imm.value.s : 0);
    return found(FrameOfCode::Kind::exact, address, stack, way.effects.get(frame_pointer));
  }

  // To another function; or a return, if it goes to a word that was taken from the stack; or by a
  // table of jumps, if an index is added.
  static std::optional<FrameOfCode> at_jump(const Decoded& code, const Way& way) {
    const ZydisDecodedOperand& first = code.operand(0);
    if (first.type == ZYDIS_OPERAND_TYPE_MEMORY && first.mem.index != ZYDIS_REGISTER_NONE)
      return std::nullopt;
    const Value place = way.effects.get(stack_pointer), frame = way.effects.get(frame_pointer);
    const auto reg = register_of(first);
    const Value target = reg ? way.effects.get(*reg) : Value{};
    if (target.kind == Value::Kind::word &&
        (way.effects.is_on_other_stack() ||
         (target.base == place.base && target.offset < place.offset)))
      return found(FrameOfCode::Kind::exact, target, stack_above(target), frame);
    const Value address = way.effects.load(place);
    return found(FrameOfCode::Kind::tail, address, stack_above(address), frame);
  }

  const ZydisDecoder& decoder_;
  const std::span<const std::byte> code_;
  const uint64_t begin_;
  std::vector<Way> ways_;  // the next one is last
  std::vector<uint64_t> seen_;
  unsigned left_ = max_instructions;
};

OwnedRule make_rule_by_frame_pointer() {
  const StackEffects effects;
  const Value frame = effects.get(frame_pointer);
  return *StackEffects::rule(effects.load(frame.plus(word_bytes)), frame.plus(2 * word_bytes),
                             effects.load(frame));
}

}  // namespace

const OwnedRule& rule_by_frame_pointer() {
  static const OwnedRule rule = make_rule_by_frame_pointer();
  return rule;
}

struct CodeReader::Engine {
  ZydisDecoder decoder{};
};

CodeReader::CodeReader() : engine_(std::make_unique<Engine>()) {
  ZydisDecoderInit(&engine_->decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
}

CodeReader::~CodeReader() = default;

FrameOfCode CodeReader::find(std::span<const std::byte> code, uint64_t begin,
                             uint64_t address) const {
  return Search(engine_->decoder, code, begin).run(address);
}

}  // namespace unwind
