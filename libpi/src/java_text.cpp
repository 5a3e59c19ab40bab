// SPDX-License-Identifier: MIT
// Texts of Java class files, and names of methods.
#include <algorithm>
#include <cstdint>
#include <iterator>
#include <optional>

#include <pi/java_text.h>
#include <pi/jit_log.h>

namespace pi {
namespace {

constexpr uint32_t replacement = 0xfffd;

bool is_high_half(uint32_t unit) {
  return unit >= 0xd800 && unit <= 0xdbff;
}

bool is_low_half(uint32_t unit) {
  return unit >= 0xdc00 && unit <= 0xdfff;
}

uint32_t bits_of(char c) {
  return static_cast<unsigned char>(c);
}

bool continues(std::string_view text, size_t at) {
  return at < text.size() && (bits_of(text[at]) & 0xc0) == 0x80;
}

// Removes one 16-bit unit from the front of the text and returns it; if the text begins with an
// invalid byte, removes that byte and returns nothing.
std::optional<uint32_t> take_unit(std::string_view& text) {
  const uint32_t first = bits_of(text[0]);
  uint32_t unit = first;
  size_t length = 1;
  if (first >= 0x80) {
    if ((first & 0xe0) == 0xc0 && continues(text, 1)) {
      length = 2;
      unit = (first & 0x1f) << 6 | (bits_of(text[1]) & 0x3f);
    } else if ((first & 0xf0) == 0xe0 && continues(text, 1) && continues(text, 2)) {
      length = 3;
      unit = (first & 0x0f) << 12 | (bits_of(text[1]) & 0x3f) << 6 | (bits_of(text[2]) & 0x3f);
    } else {
      text.remove_prefix(1);
      return std::nullopt;
    }
  }
  text.remove_prefix(length);
  return unit;
}

void append_character(std::string& text, uint32_t code) {
  const auto byte = [&text](uint32_t value) { text += static_cast<char>(value); };
  if (code < 0x80) return byte(code);
  if (code < 0x800) return byte(0xc0 | code >> 6), byte(0x80 | (code & 0x3f));
  if (code < 0x10000)
    byte(0xe0 | code >> 12);
  else
    byte(0xf0 | code >> 18), byte(0x80 | (code >> 12 & 0x3f));
  byte(0x80 | (code >> 6 & 0x3f));
  byte(0x80 | (code & 0x3f));
}

// The character of a high half and the low half after it, which is removed; U+FFFD if none follows.
uint32_t join_halves(uint32_t high, std::string_view& text) {
  std::string_view rest = text;
  if (rest.empty()) return replacement;
  const auto low = take_unit(rest);
  if (!low || !is_low_half(*low)) return replacement;
  text = rest;
  return 0x10000 + ((high - 0xd800) << 10) + (*low - 0xdc00);
}

// Removes a character of four bytes from the front of the text; nothing if it begins with none.
std::optional<uint32_t> take_long_character(std::string_view& text) {
  if ((bits_of(text[0]) & 0xf8) != 0xf0) return std::nullopt;
  uint32_t code = bits_of(text[0]) & 0x07;
  for (size_t i = 1; i < 4; ++i) {
    if (!continues(text, i)) return std::nullopt;
    code = code << 6 | (bits_of(text[i]) & 0x3f);
  }
  if (code < 0x10000 || code > 0x10ffff) return std::nullopt;
  text.remove_prefix(4);
  return code;
}

bool is_blank_or_control(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return byte <= ' ' || byte == 0x7f;
}

bool is_linker(std::string_view owner, std::string_view name) {
  constexpr std::string_view linkers[] = {"invokeBasic",   "linkToStatic",    "linkToSpecial",
                                          "linkToVirtual", "linkToInterface", "linkToNative"};
  return owner == "java/lang/invoke/MethodHandle" &&
         std::find(std::begin(linkers), std::end(linkers), name) != std::end(linkers);
}

}  // namespace

std::string modified_utf8(std::string_view plain) {
  std::string modified;
  modified.reserve(plain.size());
  while (!plain.empty()) {
    if (const auto code = take_long_character(plain)) {
      append_character(modified, 0xd800 + ((*code - 0x10000) >> 10));
      append_character(modified, 0xdc00 + ((*code - 0x10000) & 0x3ff));
      continue;
    }
    const uint32_t unit = take_unit(plain).value_or(replacement);
    if (unit == 0)
      modified += std::string_view("\xc0\x80", 2);
    else
      append_character(modified, is_high_half(unit) || is_low_half(unit) ? replacement : unit);
  }
  return modified;
}

std::string plain_utf8(std::string_view modified) {
  std::string plain;
  plain.reserve(modified.size());
  while (!modified.empty()) {
    const auto unit = take_unit(modified);
    uint32_t code = unit.value_or(replacement);
    if (is_high_half(code))
      code = join_halves(code, modified);
    else if (is_low_half(code))
      code = replacement;
    append_character(plain, code);
  }
  return plain;
}

std::string java_log_name(std::string_view modified) {
  constexpr std::string_view cut = "...";
  std::string name = plain_utf8(modified);
  for (char& c : name)
    if (is_blank_or_control(c)) c = '_';
  if (name.size() > jit_log::name_max) {
    size_t end = jit_log::name_max - cut.size();
    while (end > 0 && (name[end] & 0xc0) == 0x80) --end;  // not inside a character
    name.resize(end);
    name += cut;
  }
  return name;
}

std::string java_method_name(std::string_view owner, std::string_view name,
                             std::string_view signature) {
  std::string whole(owner);
  if (is_linker(owner, name)) return whole.append(".<linker>");
  return whole.append(".").append(name).append(signature);
}

}  // namespace pi
