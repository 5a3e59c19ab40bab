// SPDX-License-Identifier: MIT
// Demangles C++ names (Itanium ABI) and Rust names (legacy and v0).
#include "demangle.h"

#include <algorithm>
#include <cstring>

// The function behind __cxa_demangle() in libsupc++: it passes the text to a callback in pieces, so
// that the length can be limited.
extern "C" int __gcclibcxx_demangle_callback(const char* name,
                                             void (*use)(const char* text, size_t size, void* data),
                                             void* data);

namespace a2n {
namespace {

constexpr size_t max_length = 8192;
// A back reference can repeat everything before it: n of them in a hostile name can expand to a
// text of about 1.4^n characters.
constexpr size_t max_text = size_t{1} << 17;

struct TooLong {};

void take_piece(const char* text, size_t size, void* data) {
  auto& out = *static_cast<std::string*>(data);
  if (size > max_text - out.size()) throw TooLong();
  out.append(text, size);
}

std::optional<std::string> demangle_cpp(const char* name) {
  std::string text;
  try {
    if (__gcclibcxx_demangle_callback(name, take_piece, &text) != 0) return std::nullopt;
  } catch (TooLong) {
    return std::nullopt;
  }
  return text;
}

bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}
bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

// The length of a clone suffix at the beginning of text: ".cold", ".constprop.0" or ".12"; else 0.
size_t clone_length(std::string_view text) {
  if (text.size() < 2 || text[0] != '.') return 0;
  size_t end = 1;
  if (is_letter(text[1])) {
    while (end < text.size() && (is_letter(text[end]) || is_digit(text[end]))) ++end;
    if (end + 1 >= text.size() || text[end] != '.' || !is_digit(text[end + 1])) return end;
    ++end;
  }
  const size_t number = end;
  while (end < text.size() && is_digit(text[end])) ++end;
  return end > number ? end : 0;
}

}  // namespace

std::string readable_suffix(std::string_view suffix) {
  constexpr std::string_view by_llvm = ".llvm.";
  std::string text;
  while (!suffix.empty()) {
    if (suffix.starts_with(by_llvm)) {
      const size_t end = suffix.find_first_not_of("0123456789ABCDEFabcdef@", by_llvm.size());
      suffix.remove_prefix(std::min(end, suffix.size()));
      continue;
    }
    const size_t length = clone_length(suffix);
    if (length == 0) return text.append(suffix);
    text.append(" [clone ").append(suffix.substr(0, length)).push_back(']');
    suffix.remove_prefix(length);
  }
  return text;
}

std::optional<std::string> demangle(const char* name) {
  if (name[0] != '_' || std::strlen(name) > max_length) return std::nullopt;
  if (name[1] == 'R') return demangle_rust_v0(name);
  // Static constructors and destructors of a file: _GLOBAL__sub_I_NAME and similar.
  if (std::strncmp(name, "_GLOBAL_", 8) == 0) return demangle_cpp(name);
  if (name[1] != 'Z') return std::nullopt;
  if (auto rust = demangle_rust_legacy(name)) return rust;
  return demangle_cpp(name);
}

}  // namespace a2n
