// SPDX-License-Identifier: MIT
// Parses one line of an arc.
#include "arc_line.h"

#include <charconv>

namespace arcf {
namespace {

using post::LineType;

constexpr std::string_view blanks = " \t";

// Removes the first field and returns it; empty at the end.
std::string_view take_first(std::string_view& text) {
  const size_t start = text.find_first_not_of(blanks);
  if (start == std::string_view::npos) return text = {};
  const size_t end = std::min(text.find_first_of(blanks, start), text.size());
  const std::string_view field = text.substr(start, end - start);
  text.remove_prefix(end);
  return field;
}

// The same for the last field.
std::string_view take_last(std::string_view& text) {
  const size_t end = text.find_last_not_of(blanks);
  if (end == std::string_view::npos) return text = {};
  const size_t before = text.find_last_of(blanks, end);
  const size_t start = before == std::string_view::npos ? 0 : before + 1;
  const std::string_view field = text.substr(start, end + 1 - start);
  text = text.substr(0, start);
  return field;
}

bool number(std::string_view field, uint64_t& value, int base = 10) {
  const char* end = field.data() + field.size();
  const auto [stop, problem] = std::from_chars(field.data(), end, value, base);
  return !field.empty() && problem == std::errc() && stop == end;
}

bool take_ring(std::string_view field, bool& user) {
  user = field == "U" || field == "1";
  return user || field == "K" || field == "0";
}

// digit: how the last instruction of a block ends.
LineType type_of(std::string_view word, uint64_t digit) {
  const auto last = static_cast<LineType>(digit);
  if (word == "-gap-") return LineType::gap;
  if (word != "-vec-") return last;
  return last == LineType::iret ? LineType::vector_end : LineType::vector;
}

}  // namespace

Parsed parse_line(std::string_view text, post::ArcLine& out) {
  std::string_view rest = text;
  const std::string_view cpu = take_first(rest);
  if (cpu.empty() || cpu.front() == '#' || cpu == "ss:") return Parsed::nothing;
  uint64_t unused = 0;
  uint64_t digit = 0;
  if (!number(cpu, unused) || !take_ring(take_first(rest), out.user) ||
      !number(take_first(rest), digit) || digit > static_cast<uint64_t>(LineType::alloc) ||
      !number(take_first(rest), out.instructions))
    return Parsed::malformed;
  const std::string_view mark = take_first(rest);
  if (mark != "@" && mark != "?" && mark != ">") return Parsed::malformed;
  if (!number(take_first(rest), out.offset, 16)) return Parsed::malformed;
  std::string_view word = take_last(rest);
  if (word.starts_with("ns=")) word = take_last(rest);
  if (number(word, unused)) word = take_last(rest);
  out.thread = take_last(rest);
  const size_t start = rest.find_first_not_of(blanks);
  if (start == std::string_view::npos) return Parsed::malformed;
  out.name = rest.substr(start, rest.find_last_not_of(blanks) + 1 - start);
  out.mark = mark.front();
  out.type = type_of(word, digit);
  return Parsed::line;
}

}  // namespace arcf
