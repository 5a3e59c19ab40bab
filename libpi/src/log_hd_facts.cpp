// SPDX-License-Identifier: MIT
// The texts in the frames of a log-hd: lines of a word, '=' and a value, and one for each class.
#include "log_hd_facts.h"

#include <algorithm>
#include <charconv>

namespace pi::log_hd {
namespace {

constexpr std::string_view first_line = "log-hd 1";
// Each needs some hundred bytes of memory. More are left out, and have the sizes that a reader
// assumes.
constexpr size_t max_classes = 500'000;

template <class Number>
bool take_number(std::string_view text, Number& result) {
  Number number{};
  const char* const end = text.data() + text.size();
  const auto [last, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc() || last != end) return false;
  result = number;
  return true;
}

// The text up to the separator, which both lose.
std::string_view take_until(std::string_view& text, char separator) {
  const size_t end = std::min(text.find(separator), text.size());
  const std::string_view part = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  return part;
}

// A line each, so that a value must not end one.
std::string one_line(std::string_view text) {
  std::string result(text);
  for (char& c : result)
    if (c == '\n') c = ' ';
  return result;
}

std::string line(std::string_view word, std::string_view value) {
  return std::string(word) + "=" + one_line(value) + "\n";
}
std::string line(std::string_view word, uint64_t value) {
  return line(word, std::to_string(value));
}

struct LayoutWord {
  std::string_view word;
  unsigned Layout::*member;
  unsigned least, most;
};
constexpr LayoutWord layout_words[] = {{"header", &Layout::header, 4, 64},
                                       {"array_header", &Layout::array_header, 8, 64},
                                       {"wide_array_header", &Layout::wide_array_header, 8, 64},
                                       {"reference", &Layout::reference, 4, 8},
                                       {"alignment", &Layout::alignment, 4, 256}};

// Sets one value; false if no object can have it.
bool take_layout(std::string_view word, std::string_view value, Layout& layout, unsigned& found) {
  for (const LayoutWord& each : layout_words) {
    if (word != each.word) continue;
    unsigned number = 0;
    if (!take_number(value, number) || number < each.least || number > each.most) return false;
    layout.*each.member = number;
    ++found;
  }
  return true;
}

bool is_possible(const Layout& layout) {
  const auto power_of_two = [](unsigned number) { return (number & (number - 1)) == 0; };
  return power_of_two(layout.alignment) && power_of_two(layout.reference);
}

// "24 112 java/lang/String".
void take_class(std::string_view value, Facts& facts) {
  ClassSizes sizes;
  if (!take_number(take_until(value, ' '), sizes.instance) ||
      !take_number(take_until(value, ' '), sizes.object) || value.empty())
    return;
  facts.add_class(value, sizes);
}

}  // namespace

void Facts::add_class(std::string_view name, const ClassSizes& sizes) {
  // It could not be read again.
  if (name.empty() || name.find('\n') != name.npos) return;
  const auto found = classes.find(name);
  if (found != classes.end())
    found->second = found->second == sizes ? sizes : ClassSizes{};
  else if (classes.size() < max_classes)
    classes.emplace(name, sizes);
}

std::string text_of(const Facts& facts) {
  std::string text = std::string(first_line) + "\n" + line("agent", facts.agent) +
                     line("jvm", facts.jvm) + line("pid", facts.pid) +
                     line("time_ms", facts.time_ms) + line("class_pointers", facts.class_pointers);
  if (facts.layout)
    for (const LayoutWord& each : layout_words)
      text += line(each.word, (*facts.layout).*each.member);
  for (const auto& [name, sizes] : facts.classes) {
    text += "class=" + std::to_string(sizes.instance) + " " + std::to_string(sizes.object) + " ";
    text += name + "\n";
  }
  return text;
}

std::string text_of(const End& end) {
  return line("frames", end.frames) + line("bytes", end.bytes);
}

std::optional<Facts> facts_from(std::string_view text) {
  if (take_until(text, '\n') != first_line) return std::nullopt;
  Facts facts;
  Layout layout;
  unsigned found = 0;
  bool possible = true;
  while (!text.empty()) {
    std::string_view value = take_until(text, '\n');
    const std::string_view word = take_until(value, '=');
    if (word == "agent") facts.agent = value;
    if (word == "jvm") facts.jvm = value;
    if (word == "pid") (void)take_number(value, facts.pid);
    if (word == "time_ms") (void)take_number(value, facts.time_ms);
    if (word == "class_pointers") facts.class_pointers = value;
    if (word == "class") take_class(value, facts);
    possible = possible && take_layout(word, value, layout, found);
  }
  if (possible && found == std::size(layout_words) && is_possible(layout)) facts.layout = layout;
  return facts;
}

std::optional<End> end_from(std::string_view text) {
  End end;
  bool has_frames = false, has_bytes = false;
  while (!text.empty()) {
    std::string_view value = take_until(text, '\n');
    const std::string_view word = take_until(value, '=');
    if (word == "frames") has_frames = take_number(value, end.frames);
    if (word == "bytes") has_bytes = take_number(value, end.bytes);
  }
  if (!has_frames || !has_bytes) return std::nullopt;
  return end;
}

}  // namespace pi::log_hd
