// SPDX-License-Identifier: MIT
// Parses the texts of /proc/kallsyms and /proc/modules. Every line is untrusted.
#include "kallsyms.h"

#include <charconv>
#include <cstring>
#include <optional>

namespace a2n {
namespace {

constexpr bool is_blank(char c) {
  return c == ' ' || c == '\t' || c == '\r';
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

template <class Consume>
void for_each_line(std::string_view text, Consume consume) {
  while (!text.empty()) {
    const size_t end = text.find('\n');
    consume(text.substr(0, end));
    text.remove_prefix(end == text.npos ? text.size() : end + 1);
  }
}

}  // namespace

std::vector<KallsymsLine> parse_kallsyms(std::string_view text) {
  std::vector<KallsymsLine> lines;
  lines.reserve(text.size() / 40);
  for_each_line(text, [&lines](std::string_view line) {
    const auto address = number(next_word(line), 16);
    const std::string_view type = next_word(line);
    const std::string_view name = next_word(line);
    std::string_view module = next_word(line);
    if (!address || type.size() != 1 || name.empty()) return;
    if (module.starts_with('[')) module.remove_prefix(1);
    if (module.ends_with(']')) module.remove_suffix(1);
    lines.push_back({*address, type[0], name, module});
  });
  return lines;
}

std::vector<ModulesLine> parse_modules(std::string_view text) {
  std::vector<ModulesLine> lines;
  for_each_line(text, [&lines](std::string_view line) {
    const std::string_view name = next_word(line);
    const auto size = number(next_word(line), 10);
    next_word(line);  // reference count
    next_word(line);  // modules that use it
    next_word(line);  // state
    const auto address = number(next_word(line), 16);
    if (!name.empty() && size && address) lines.push_back({name, *size, *address});
  });
  return lines;
}

}  // namespace a2n
