// SPDX-License-Identifier: MIT
// What instructions do to the stack.
#include "stack_effects.h"

#include <algorithm>

namespace unwind {
namespace {

constexpr size_t max_words = 64;
// A frame that is larger is not looked for in code.
constexpr int64_t max_offset = 1 << 24;

}  // namespace

Value Value::plus(int64_t number) const {
  const int64_t sum = int64_t{offset} + number;
  if (kind != Kind::sum || number > max_offset || number < -max_offset || sum > max_offset ||
      sum < -max_offset)
    return {};
  return {kind, base, static_cast<int32_t>(sum)};
}

StackEffects::StackEffects() {
  for (unsigned reg = 0; reg < register_count; ++reg)
    registers_[reg] = {Value::Kind::sum, static_cast<uint8_t>(reg), 0};
}

Value StackEffects::load(Value place) const {
  if (!place.is_place()) return {};
  const auto found = std::ranges::find(words_, place, &Word::place);
  if (found != words_.end()) return found->value;
  if (place.base == Value::other_stack) return {};
  return {Value::Kind::word, place.base, place.offset};
}

void StackEffects::store(Value place, Value value) {
  if (!place.is_place()) return;
  const auto found = std::ranges::find(words_, place, &Word::place);
  if (found != words_.end())
    found->value = value;
  else if (words_.size() < max_words)
    words_.push_back({place, value});
  else
    registers_[stack_pointer] = {};  // nothing is known of the stack any more
}

void StackEffects::push(Value value) {
  registers_[stack_pointer] = registers_[stack_pointer].plus(-word_bytes);
  store(registers_[stack_pointer], value);
}

Value StackEffects::pop() {
  const Value value = load(registers_[stack_pointer]);
  registers_[stack_pointer] = registers_[stack_pointer].plus(word_bytes);
  return value;
}

std::optional<OwnedRule> StackEffects::rule(Value address, Value caller_stack, Value caller_frame) {
  if (!caller_stack.is_place() || caller_stack.base == Value::other_stack ||
      address.kind == Value::Kind::unknown || address.base == Value::other_stack)
    return std::nullopt;
  OwnedRule rule;
  rule.cfa = {CfaKind::offset, caller_stack.base, rule_runtime, 0, caller_stack.offset, 0, 0};
  const auto put = [&](unsigned reg, const Value& value) {
    Save save{SaveKind::lost, 0, static_cast<uint8_t>(reg), 0, 0};
    if (value.kind != Value::Kind::unknown && value.base != Value::other_stack) {
      save.kind = value.kind == Value::Kind::sum ? SaveKind::in_base : SaveKind::at_base;
      save.base = value.base;
      save.offset = value.offset;
    }
    rule.saves[rule.cfa.saves++] = save;
  };
  // Run-time code gives no other register back.
  for (unsigned reg = 0; reg < register_count; ++reg)
    if (reg != stack_pointer)
      put(reg, reg == return_address ? address : reg == frame_pointer ? caller_frame : Value{});
  return rule;
}

}  // namespace unwind
