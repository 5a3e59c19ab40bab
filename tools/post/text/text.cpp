// SPDX-License-Identifier: MIT
// Text for people: wraps sentences, formats and parses numbers.
#include "text.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

namespace post {

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
