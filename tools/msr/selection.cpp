// SPDX-License-Identifier: MIT
// A selection on the command line: a register, some of its bits, a value for them.
#include "selection.h"

#include <charconv>

#include <fmt/format.h>

namespace pi::msr {
namespace {

constexpr unsigned register_bits = 64;

Error wrong(std::string text) {
  return {-1, std::move(text)};
}

// Decimal or 0xHEX, up to most.
std::optional<uint64_t> parse_number(std::string_view text, uint64_t most) {
  const bool hex = text.starts_with("0x") || text.starts_with("0X");
  if (hex) text.remove_prefix(2);
  uint64_t number = 0;
  const auto [end, error] =
      std::from_chars(text.data(), text.data() + text.size(), number, hex ? 16 : 10);
  if (error != std::errc() || end != text.data() + text.size() || number > most)
    return std::nullopt;
  return number;
}

Status select_register(std::string_view text, Selection& selection) {
  if (const auto number = parse_number(text, UINT32_MAX)) {
    selection.number = static_cast<uint32_t>(*number);
    selection.known = find_register(selection.number);
    return {};
  }
  selection.known = find_register(text);
  if (selection.known == nullptr)
    return wrong(
        fmt::format("'{}' is not a register. Give a number (decimal or 0xHEX) or a name that "
                    "'msr -l' lists.",
                    text));
  selection.number = selection.known->number;
  return {};
}

Status select_bits(std::string_view text, Selection& selection) {
  selection.bits = text;
  if (const Field* field = selection.known ? find_field(*selection.known, text) : nullptr) {
    selection.high = field->high;
    selection.low = field->low;
    return {};
  }
  const size_t dash = text.find('-');
  const auto high = parse_number(text.substr(0, dash), register_bits - 1);
  const auto low = dash == std::string_view::npos
                       ? high
                       : parse_number(text.substr(dash + 1), register_bits - 1);
  if (!high || !low || *low > *high)
    return wrong(
        fmt::format("'{}' is not a range of bits. Give HIGH-LOW or one bit, from 0 to 63{}.", text,
                    selection.known && !selection.known->fields.empty()
                        ? ", or the name of a field that 'msr -l -f' lists"
                        : ""));
  selection.high = static_cast<unsigned>(*high);
  selection.low = static_cast<unsigned>(*low);
  return {};
}

Status select_value(std::string_view text, Selection& selection) {
  const uint64_t most = bits_of(~uint64_t{0}, selection.high, selection.low);
  selection.value = parse_number(text, most);
  if (selection.value) return {};
  return wrong(fmt::format("'{}' is not a value (decimal or 0xHEX) from 0 to {:#x}.", text, most));
}

}  // namespace

uint64_t bits_of(uint64_t whole, unsigned high, unsigned low) {
  const unsigned width = high - low + 1;
  const uint64_t shifted = whole >> low;
  return width == register_bits ? shifted : shifted & ((uint64_t{1} << width) - 1);
}

uint64_t with_bits(uint64_t whole, unsigned high, unsigned low, uint64_t value) {
  const uint64_t mask = bits_of(~uint64_t{0}, high, low) << low;
  return (whole & ~mask) | (value << low & mask);
}

Result<Selection> parse_selection(const std::string& text) {
  Selection selection;
  std::string_view rest = text;
  std::optional<std::string_view> value, bits;
  if (const size_t at = rest.find('='); at != std::string_view::npos) {
    value = rest.substr(at + 1);
    rest = rest.substr(0, at);
  }
  if (const size_t at = rest.find(':'); at != std::string_view::npos) {
    bits = rest.substr(at + 1);
    rest = rest.substr(0, at);
  }
  if (auto good = select_register(rest, selection); !good) return good.error();
  if (bits)
    if (auto good = select_bits(*bits, selection); !good) return good.error();
  if (value)
    if (auto good = select_value(*value, selection); !good) return good.error();
  return selection;
}

}  // namespace pi::msr
