// SPDX-License-Identifier: MIT
// Text for people: escapes names from traces, wraps sentences, formats and parses numbers.
#include "text.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <iterator>

namespace post {
namespace {

uint32_t byte_at(std::string_view text, size_t at) {
  return static_cast<unsigned char>(text[at]);
}

// Invisible characters, which can reverse, end or hide the rest of a line:
// zero-width characters, line separators, direction overrides, tags.
bool is_invisible(uint32_t code) {
  return (code >= 0x200b && code <= 0x200f) || (code >= 0x2028 && code <= 0x202e) ||
         (code >= 0x2060 && code <= 0x206f) || code == 0xfeff ||
         (code >= 0xe0000 && code <= 0xe007f);
}

// Bytes of the valid, printable UTF-8 character at a position; 0 if there is none.
size_t character_size(std::string_view text, size_t at) {
  const uint32_t first = byte_at(text, at);
  if (first < 0x80) return first >= 0x20 && first != 0x7f ? 1 : 0;
  const size_t size = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
  if (first < 0xc2 || first > 0xf4 || size > text.size() - at) return 0;
  uint32_t code = first & (0xffu >> (size + 1));
  for (size_t i = 1; i < size; ++i) {
    const uint32_t next = byte_at(text, at + i);
    if ((next & 0xc0) != 0x80) return 0;
    code = code << 6 | (next & 0x3f);
  }
  const bool overlong = (size == 3 && code < 0x800) || (size == 4 && code < 0x10000);
  const bool surrogate = code >= 0xd800 && code <= 0xdfff;
  const bool control = code < 0xa0;
  return overlong || surrogate || control || is_invisible(code) || code > 0x10ffff ? 0 : size;
}

}  // namespace

std::string printable(std::string_view text) {
  // Nearly all names are of these characters.
  if (std::ranges::all_of(text, [](char c) { return c >= ' ' && c <= '~'; }))
    return std::string(text);
  std::string out;
  out.reserve(text.size());
  for (size_t at = 0; at < text.size();) {
    const size_t size = character_size(text, at);
    if (size == 0) {
      fmt::format_to(std::back_inserter(out), "\\x{:02x}", byte_at(text, at));
      ++at;
    } else {
      out.append(text, at, size);
      at += size;
    }
  }
  return out;
}

std::string wrapped(std::string_view lead, std::string_view text, size_t width) {
  std::string out(lead);
  size_t column = lead.size();
  bool first = true;
  for (size_t at = 0; at < text.size();) {
    const size_t start = text.find_first_not_of(' ', at);
    if (start == std::string_view::npos) break;
    const size_t end = std::min(text.find(' ', start), text.size());
    const std::string_view word = text.substr(start, end - start);
    if (!first && column + 1 + word.size() > width) {
      out += '\n';
      out.append(lead.size(), ' ');
      column = lead.size();
      first = true;
    }
    if (!first) {
      out += ' ';
      ++column;
    }
    out += word;
    column += word.size();
    first = false;
    at = end;
  }
  out += '\n';
  return out;
}

std::string sentence(std::string_view lead, std::string_view text) {
  return wrapped(fmt::format(" {} : ", lead), text);
}

std::string duration_text(uint64_t nanoseconds) {
  const auto in = [&](double unit) { return static_cast<double>(nanoseconds) / unit; };
  if (nanoseconds == 0) return "0 s";
  if (nanoseconds < 999'500) return fmt::format("{:.0f} us", std::max(in(1e3), 1.0));
  if (nanoseconds < 9'950'000) return fmt::format("{:.1f} ms", in(1e6));
  if (nanoseconds < 999'500'000) return fmt::format("{:.0f} ms", in(1e6));
  if (nanoseconds < 9'995'000'000) return fmt::format("{:.2f} s", in(1e9));
  if (nanoseconds < 59'950'000'000) return fmt::format("{:.1f} s", in(1e9));
  const uint64_t seconds = (nanoseconds + 500'000'000) / 1'000'000'000;
  if (seconds < 3600) return fmt::format("{} min {:02} s", seconds / 60, seconds % 60);
  const uint64_t minutes = (seconds + 30) / 60;
  return fmt::format("{} h {:02} min", minutes / 60, minutes % 60);
}

std::optional<double> percent_from(std::string_view text) {
  double percent = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), percent);
  if (problem != std::errc() || end != text.data() + text.size()) return {};
  // The condition is also false for "nan".
  if (!(percent >= 0 && percent <= 100)) return {};
  return percent;
}

bool parse_number(std::string_view text, uint64_t& value) {
  uint64_t number = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (problem != std::errc() || end != text.data() + text.size()) return false;
  value = number;
  return true;
}

}  // namespace post
