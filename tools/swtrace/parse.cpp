// SPDX-License-Identifier: MIT
// Parses numbers and sizes in the arguments of swtrace's commands.
#include <cctype>
#include <charconv>
#include <utility>

#include <fmt/format.h>
#include <pitrace/abi.h>

#include "commands.h"
#include "perfutil.h"

namespace pi::swtrace {
namespace {

constexpr std::pair<const char*, int> major_names[] = {{"exception", PITRACE_MAJOR_EXCEPTION},
                                                       {"interrupt", PITRACE_MAJOR_INTERRUPT},
                                                       {"syscall", PITRACE_MAJOR_SYSCALL},
                                                       {"tprof", PI_MAJORS_TPROF},
                                                       {"dispatch", PITRACE_MAJOR_DISPATCH},
                                                       {"switch", PITRACE_MAJOR_SWITCH},
                                                       {"mte", PITRACE_MAJOR_MTE}};

// Majors that have no name on the command line.
const char* kind_text(int major) {
  if (major == PITRACE_MAJOR_TPROF) return "ticks without names";
  if (major == PITRACE_MAJOR_SYSTEM) return "start-up";
  if (major == PITRACE_MAJOR_TIME || major == PITRACE_MAJOR_TIME_FAKE) return "time";
  if (major >= PITRACE_MAJOR_BRANCH_KERNEL && major <= PITRACE_MAJOR_ITRACE_STOP) return "ITrace";
  return "hooks of programs";
}

template <class Number>
bool parse_whole(std::string_view text, int base, Number& value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  return error == std::errc() && end == text.data() + text.size();
}

}  // namespace

std::optional<uint32_t> parse_size(const std::string& text, uint32_t default_unit) {
  const size_t digits = text.find_first_not_of("0123456789");
  const std::string_view number = std::string_view(text).substr(0, digits);
  std::string unit = digits == std::string::npos ? "" : text.substr(digits);
  for (char& each : unit) each = static_cast<char>(std::toupper(static_cast<unsigned char>(each)));
  uint64_t value = 0;
  if (number.size() > 9 || !parse_whole(number, 10, value) || value == 0) return std::nullopt;
  if (unit.empty())
    value *= default_unit;
  else if (unit == "K" || unit == "KB")
    value <<= 10;
  else if (unit == "M" || unit == "MB")
    value <<= 20;
  else
    return std::nullopt;
  if (value > UINT32_MAX) return std::nullopt;
  return static_cast<uint32_t>(value);
}

std::optional<int> parse_number(const std::string& text, int most) {
  std::string_view digits = text;
  int base = 10;
  if (digits.starts_with("0x") || digits.starts_with("0X")) {
    base = 16;
    digits.remove_prefix(2);
  } else if (digits.size() > 1 && digits.starts_with("0")) {
    base = 8;
    digits.remove_prefix(1);
  }
  int value = 0;
  if (!parse_whole(digits, base, value) || value < 0 || value > most) return std::nullopt;
  return value;
}

std::optional<int> parse_major(const std::string& text) {
  for (const auto& [name, major] : major_names)
    if (text == name) return major;
  return parse_number(text, PI_MAJORS_TPROF);
}

std::vector<std::string> names_of_majors() {
  std::vector<std::string> names;
  for (const auto& major : major_names) names.emplace_back(major.first);
  return names;
}

std::string major_text(int major) {
  if (major == ALL_MAJORS) return "all majors";
  if (major == PI_MAJORS_TPROF)
    return fmt::format("tprof ({:#04x} and {:#04x})", PITRACE_MAJOR_TPROF, PITRACE_MAJOR_MTE);
  for (const auto& [name, number] : major_names)
    if (major == number) return fmt::format("{} ({:#04x})", name, number);
  return fmt::format("{} ({:#04x})", kind_text(major), major);
}

std::string period_text(uint64_t period) {
  return period == 1 ? "one tick for each event" : fmt::format("one tick every {} events", period);
}

std::optional<int> parse_duration(const std::string& text) {
  constexpr int max_seconds = 366 * 86400;
  int unit = 1;
  std::string number = text;
  for (const auto& [letter, seconds] : {std::pair('s', 1), {'m', 60}, {'h', 3600}, {'d', 86400}})
    if (text.ends_with(letter)) {
      unit = seconds;
      number.pop_back();
      break;
    }
  int value = 0;
  if (!parse_whole(std::string_view(number), 10, value) || value < 1 || value > max_seconds / unit)
    return std::nullopt;
  return value * unit;
}

}  // namespace pi::swtrace
