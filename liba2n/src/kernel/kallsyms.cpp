// SPDX-License-Identifier: MIT
// Parses the texts of /proc/kallsyms and /proc/modules. Every line is untrusted.
#include "kallsyms.h"

#include <algorithm>
#include <charconv>
#include <optional>

namespace a2n {
namespace {

constexpr bool is_blank(char c) {
  return c == ' ' || c == '\t' || c == '\r';
}

// Zeros, above all: no line has any but the tab before a module.
constexpr bool is_control(char c) {
  return (static_cast<unsigned char>(c) < ' ' && !is_blank(c)) || c == '\x7f';
}

// As nm prints types; the kernel has '?' for those it does not know.
constexpr bool is_type(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '?';
}

// Removes the next word from line and returns it; empty at its end.
std::string_view next_word(std::string_view& line) {
  size_t begin = 0;
  while (begin < line.size() && is_blank(line[begin])) ++begin;
  size_t end = begin;
  while (end < line.size() && !is_blank(line[end])) ++end;
  const std::string_view word = line.substr(begin, end - begin);
  line.remove_prefix(end);
  return word;
}

std::optional<uint64_t> number(std::string_view word, int base) {
  if (base == 16 && word.starts_with("0x")) word.remove_prefix(2);
  uint64_t value = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value, base);
  if (word.empty() || error != std::errc() || end != word.data() + word.size()) return std::nullopt;
  return value;
}

// parse: the line's contents, or nullopt if it has another form.
template <class Line, class Parse>
ParsedText<Line> parse_lines(std::string_view text, size_t usual_length, Parse parse) {
  ParsedText<Line> parsed;
  parsed.lines.reserve(text.size() / usual_length);
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    const bool readable = std::ranges::none_of(line, is_control);
    if (const std::optional<Line> good = readable ? parse(line) : std::nullopt) {
      parsed.lines.push_back(*good);
    } else {
      ++parsed.bad_lines;
      parsed.bad_bytes += line.size();
    }
    text.remove_prefix(std::min(line.size() + 1, text.size()));
  }
  return parsed;
}

std::optional<KallsymsLine> kallsyms_line(std::string_view line) {
  const auto address = number(next_word(line), 16);
  const std::string_view type = next_word(line);
  const std::string_view name = next_word(line);
  std::string_view module = next_word(line);
  if (!address || type.size() != 1 || !is_type(type[0]) || name.empty() || !next_word(line).empty())
    return std::nullopt;
  if (!module.empty()) {
    if (module.size() < 3 || !module.starts_with('[') || !module.ends_with(']'))
      return std::nullopt;
    module = module.substr(1, module.size() - 2);
  }
  return KallsymsLine{*address, type[0], name, module};
}

std::optional<ModulesLine> modules_line(std::string_view line) {
  const std::string_view name = next_word(line);
  const auto size = number(next_word(line), 10);
  next_word(line);  // reference count
  next_word(line);  // modules that use it
  next_word(line);  // state
  const auto address = number(next_word(line), 16);
  if (name.empty() || !size || !address) return std::nullopt;
  return ModulesLine{name, *size, *address};
}

}  // namespace

ParsedText<KallsymsLine> parse_kallsyms(std::string_view text) {
  return parse_lines<KallsymsLine>(text, 40, kallsyms_line);
}

ParsedText<ModulesLine> parse_modules(std::string_view text) {
  return parse_lines<ModulesLine>(text, 60, modules_line);
}

}  // namespace a2n
