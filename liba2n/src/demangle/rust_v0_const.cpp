// SPDX-License-Identifier: MIT
// Constants in Rust's v0 mangling: numbers, characters, strings and structured values.
#include <algorithm>
#include <charconv>

#include "base/utf8.h"
#include "rust_v0.h"

namespace a2n {
namespace {

// Appends a character as Rust's Debug format prints it between the given quotes.
void append_escaped(uint32_t code, char quote, std::string& out) {
  switch (code) {
    case '\t':
      out += "\\t";
      return;
    case '\r':
      out += "\\r";
      return;
    case '\n':
      out += "\\n";
      return;
    case '\0':
      out += "\\0";
      return;
    case '\\':
      out += "\\\\";
      return;
    default:
      break;
  }
  if (code == static_cast<uint32_t>(quote)) out.push_back('\\');
  if (code >= 0x20 && code != 0x7f) {
    append_utf8(code, out);
    return;
  }
  char digits[8];
  const auto end = std::to_chars(digits, digits + sizeof(digits), code, 16).ptr;
  out += "\\u{" + std::string(digits, end) + "}";
}

std::optional<uint64_t> value_of(std::string_view hex) {
  if (hex.size() > 16) return std::nullopt;
  uint64_t value = 0;
  std::from_chars(hex.data(), hex.data() + hex.size(), value, 16);
  return value;
}

}  // namespace

// Parses lower-case hex digits up to '_'.
std::string_view RustV0::hex_digits() {
  const size_t begin = at_;
  while (at_ < in_.size() &&
         ((in_[at_] >= '0' && in_[at_] <= '9') || (in_[at_] >= 'a' && in_[at_] <= 'f'))) {
    ++at_;
  }
  const std::string_view digits = in_.substr(begin, at_ - begin);
  if (!eat('_')) fail();
  return digits;
}

void RustV0::print_integer() {
  std::string_view digits = hex_digits();
  digits.remove_prefix(std::min(digits.find_first_not_of('0'), digits.size()));
  if (const auto value = value_of(digits)) return print(std::to_string(*value));
  print("0x");
  print(digits);
}

void RustV0::print_char() {
  const auto code = value_of(hex_digits());
  std::string text = "'";
  if (!code || *code > 0x10ffff || (*code >= 0xd800 && *code < 0xe000)) return fail();
  append_escaped(static_cast<uint32_t>(*code), '\'', text);
  print(text + "'");
}

// A string literal: its UTF-8 bytes as pairs of hex digits.
void RustV0::print_string() {
  const std::string_view digits = hex_digits();
  if (digits.size() % 2 != 0) return fail();
  std::string text = "\"";
  for (size_t i = 0; i < digits.size(); i += 2) {
    const auto byte = static_cast<unsigned char>(*value_of(digits.substr(i, 2)));
    if (byte < 0x80) {
      append_escaped(byte, '"', text);
    } else {
      text.push_back(static_cast<char>(byte));
    }
  }
  print(text + "\"");
}

void RustV0::constant(bool in_value) {
  if (!enter()) return fail();
  const char tag = next();
  switch (tag) {
    case 'p':
      print("_");
      break;
    case 'a':
    case 's':
    case 'l':
    case 'x':
    case 'n':
    case 'i':
      if (eat('n')) print("-");
      [[fallthrough]];
    case 'h':
    case 't':
    case 'm':
    case 'y':
    case 'o':
    case 'j':
      print_integer();
      break;
    case 'b': {
      const auto value = value_of(hex_digits());
      if (!value || *value > 1) return fail();
      print(*value ? "true" : "false");
      break;
    }
    case 'c':
      print_char();
      break;
    case 'B':
      back_reference([this, in_value] { constant(in_value); });
      break;
    default:
      structured_constant(tag, in_value);
  }
  leave();
}

void RustV0::structured_constant(char tag, bool in_value) {
  if (tag == 'R' && eat('e')) return print_string();  // a literal already is a reference: no '&'
  if (!in_value) print("{");
  switch (tag) {
    case 'e':
      print("*");
      print_string();
      break;
    case 'R':
    case 'Q':
      print(tag == 'R' ? "&" : "&mut ");
      constant(true);
      break;
    case 'A':
      print("[");
      list(", ", [this] { constant(true); });
      print("]");
      break;
    case 'T':
      print("(");
      if (list(", ", [this] { constant(true); }) == 1) print(",");
      print(")");
      break;
    case 'V':
      path(true);
      constant_fields();
      break;
    default:
      fail();
  }
  if (!in_value) print("}");
}

// The fields of a struct or an enum variant: none, a tuple, or named fields.
void RustV0::constant_fields() {
  switch (next()) {
    case 'U':
      break;
    case 'T':
      print("(");
      list(", ", [this] { constant(true); });
      print(")");
      break;
    case 'S':
      print(" { ");
      list(", ", [this] {
        optional_base62('s');
        print(identifier() + ": ");
        constant(true);
      });
      print(" }");
      break;
    default:
      fail();
  }
}

}  // namespace a2n
