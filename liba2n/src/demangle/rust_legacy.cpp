// SPDX-License-Identifier: MIT
// Rust's legacy mangling: a C++ nested name whose last part is "h" and 16 hexadecimal digits.
#include <algorithm>
#include <charconv>
#include <cstdint>
#include <vector>

#include "base/utf8.h"
#include "demangle.h"

namespace a2n {
namespace {

bool is_hash(std::string_view part) {
  return part.size() == 17 && part[0] == 'h' &&
         std::all_of(part.begin() + 1, part.end(),
                     [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); });
}

// The length-prefixed parts between "_ZN" and "E". Sets name to the text after the E, a suffix of
// the compiler.
std::optional<std::vector<std::string_view>> split(std::string_view& name) {
  if (!name.starts_with("_ZN")) return std::nullopt;
  name.remove_prefix(3);
  std::vector<std::string_view> parts;
  while (!name.empty() && name[0] != 'E') {
    size_t length = 0;
    const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), length);
    if (error != std::errc() || length == 0) return std::nullopt;
    name.remove_prefix(static_cast<size_t>(end - name.data()));
    if (length > name.size()) return std::nullopt;
    parts.push_back(name.substr(0, length));
    name.remove_prefix(length);
  }
  if (name.empty() || (name.size() > 1 && name[1] != '.')) return std::nullopt;
  name.remove_prefix(1);
  return parts;
}

// Appends the text of an escape such as "$LT$" (without the '$'); false if it is not an escape.
bool append_escape(std::string_view escape, std::string& out) {
  struct Escape {
    std::string_view code;
    const char* text;
  };
  constexpr Escape escapes[] = {{"SP", "@"}, {"BP", "*"}, {"RF", "&"}, {"LT", "<"},
                                {"GT", ">"}, {"LP", "("}, {"RP", ")"}, {"C", ","}};
  for (const Escape& known : escapes) {
    if (escape == known.code) {
      out += known.text;
      return true;
    }
  }
  if (escape.size() < 2 || escape[0] != 'u') return false;
  uint32_t code = 0;
  const auto [end, error] =
      std::from_chars(escape.data() + 1, escape.data() + escape.size(), code, 16);
  if (error != std::errc() || end != escape.data() + escape.size()) return false;
  return code >= 0x20 && append_utf8(code, out);
}

void append_part(std::string_view part, std::string& out) {
  if (part.starts_with("_$")) part.remove_prefix(1);  // rustc adds the '_' before a leading '$'
  while (!part.empty()) {
    if (part.starts_with("..")) {
      out += "::";
      part.remove_prefix(2);
      continue;
    }
    const size_t end = part[0] == '$' ? part.find('$', 1) : part.npos;
    if (end != part.npos && append_escape(part.substr(1, end - 1), out)) {
      part.remove_prefix(end + 1);
      continue;
    }
    out.push_back(part[0]);
    part.remove_prefix(1);
  }
}

}  // namespace

std::optional<std::string> demangle_rust_legacy(std::string_view name) {
  const auto parts = split(name);
  if (!parts || parts->size() < 2 || !is_hash(parts->back())) return std::nullopt;
  std::string out;
  for (size_t i = 0; i + 1 < parts->size(); ++i) {
    if (i > 0) out += "::";
    append_part((*parts)[i], out);
  }
  return out + readable_suffix(name);
}

}  // namespace a2n
