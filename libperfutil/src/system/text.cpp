// SPDX-License-Identifier: MIT
// Small text helpers: texts of error numbers, whole small files, parsing of numbers.
#include "text.h"

#include <cerrno>
#include <charconv>
#include <system_error>

#include <pi/files.h>

namespace pi::perfutil {

std::string errno_text(int error) {
  return std::generic_category().message(error);
}

std::optional<std::string> read_text(const std::string& path, size_t limit) {
  auto text = read_system_file(path, limit);
  if (!text) {
    errno = text.error().code;
    return std::nullopt;
  }
  return std::move(*text);
}

std::string read_line(const std::string& path) {
  std::string text = read_text(path).value_or("");
  while (!text.empty() && text.back() == '\n') text.pop_back();
  return text;
}

std::optional<uint64_t> parse_number(std::string_view text, int base) {
  uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::string_view next_word(std::string_view& text, char separator) {
  const size_t at = text.find(separator);
  const std::string_view word = text.substr(0, at);
  text.remove_prefix(at == std::string_view::npos ? text.size() : at + 1);
  return word;
}

std::vector<uint32_t> parse_cpu_list(std::string_view text) {
  constexpr uint64_t max_cpus = 1 << 16;
  while (!text.empty() && text.back() == '\n') text.remove_suffix(1);
  std::vector<uint32_t> cpus;
  while (!text.empty()) {
    std::string_view range = next_word(text, ',');
    const bool single = range.find('-') == std::string_view::npos;
    const auto first = parse_number(next_word(range, '-'));
    const auto last = single ? first : parse_number(range);
    if (!first || !last || *last < *first || *last >= max_cpus) return {};
    for (uint64_t cpu = *first; cpu <= *last; ++cpu) cpus.push_back(static_cast<uint32_t>(cpu));
  }
  return cpus;
}

}  // namespace pi::perfutil
