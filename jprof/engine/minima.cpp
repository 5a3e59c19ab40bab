// SPDX-License-Identifier: MIT
// Minima of sequences, and their file.
#include "minima.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <optional>

#include <pi/files.h>
#include <pi/printable.h>

namespace pi::callflow {
namespace {

constexpr std::string_view format_line = "# pitrace call-flow minima 1";
constexpr size_t max_file = 16 << 20;
constexpr std::array<std::string_view, transition_count> transition_words = {"En", "Ex", "XX"};

std::string_view take_line(std::string_view& text) {
  const size_t end = std::min(text.find('\n'), text.size());
  const std::string_view line = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  return line;
}

std::string_view take_word(std::string_view& line) {
  line.remove_prefix(std::min(line.find_first_not_of(' '), line.size()));
  const size_t end = std::min(line.find(' '), line.size());
  const std::string_view word = line.substr(0, end);
  line.remove_prefix(end);
  return word;
}

std::optional<uint64_t> number(std::string_view word) {
  uint64_t value = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
  if (error != std::errc() || end != word.data() + word.size()) return std::nullopt;
  return value;
}

std::optional<Type> type_of(std::string_view word) {
  for (size_t i = 0; i < type_count; ++i)
    if (word.size() == 1 && word[0] == letter_of(static_cast<Type>(i))) return static_cast<Type>(i);
  return std::nullopt;
}

std::optional<Transition> transition_of(std::string_view word) {
  const auto found = std::find(transition_words.begin(), transition_words.end(), word);
  if (found == transition_words.end()) return std::nullopt;
  return static_cast<Transition>(found - transition_words.begin());
}

// False if the line has another form.
bool parse_minimum(std::string_view line, Minima& minima) {
  const std::string metric(take_word(line));
  const auto before = type_of(take_word(line));
  const auto first = transition_of(take_word(line));
  const auto running = type_of(take_word(line));
  const auto second = transition_of(take_word(line));
  const auto after = type_of(take_word(line));
  const auto value = number(take_word(line));
  const auto count = number(take_word(line));
  if (!before || !first || !running || !second || !after || !value || !count ||
      !take_word(line).empty())
    return false;
  const Sequence sequence = {*before, *first, *running, *second, *after};
  if (can_occur(sequence))
    minima.values[{metric, index_of(sequence)}] = {*value, *count};
  else
    minima.impossible.insert(index_of(sequence));
  return true;
}

// Empty if there are none. Names some of them.
std::string impossible_note(const std::string& path, const Minima& minima) {
  constexpr size_t named_max = 8;
  if (minima.impossible.empty()) return {};
  const size_t count = minima.impossible.size();
  std::string names;
  size_t named = 0;
  for (const size_t index : minima.impossible) {
    if (named++ == named_max) break;
    names += (names.empty() ? "" : ", ") + name_of(sequence_at(index));
  }
  if (count > named_max) names += ", ...";
  return "'" + path +
         "' has sequences that cannot occur, which are not used: " + std::to_string(count) + " (" +
         names + ")";
}

}  // namespace

const Minimum* Minima::find(const std::string& metric, size_t sequence) const {
  const auto found = values.find({metric, sequence});
  return found == values.end() ? nullptr : &found->second;
}

const Minimum* Minima::find_similar(const std::string& metric, size_t sequence) const {
  if (const Minimum* exact = find(metric, sequence)) return exact;
  const Sequence wanted = sequence_at(sequence);
  const Minimum* same_after = nullptr;
  const Minimum* same_events = nullptr;
  const auto keep_smaller = [](const Minimum*& smallest, const Minimum& other) {
    if (!smallest || other.value < smallest->value) smallest = &other;
  };
  for (auto at = values.lower_bound({metric, 0}); at != values.end() && at->first.first == metric;
       ++at) {
    const Sequence known = sequence_at(at->first.second);
    if (known.first != wanted.first || known.running != wanted.running ||
        known.second != wanted.second)
      continue;
    keep_smaller(same_events, at->second);
    if (known.after == wanted.after) keep_smaller(same_after, at->second);
  }
  return same_after ? same_after : same_events;
}

std::string name_of(const Sequence& s) {
  std::string name;
  for (const auto& [type, transition] : {std::pair{s.before, s.first}, {s.running, s.second}})
    name += letter_of(type) + (' ' + std::string(word_of(transition))) + ' ';
  return name + letter_of(s.after);
}

std::string_view word_of(Transition transition) {
  return transition_words[static_cast<size_t>(transition)];
}

pi::Result<Minima> parse_minima(std::string_view text) {
  if (take_line(text) != format_line)
    return pi::Error{EINVAL, "the first line is not '" + std::string(format_line) + "'"};
  Minima minima;
  for (size_t number = 2; !text.empty(); ++number) {
    const std::string_view line = take_line(text);
    if (line.empty() || line.starts_with('#')) continue;
    if (line.starts_with("key "))
      minima.key = line.substr(4);
    else if (!parse_minimum(line, minima))
      return pi::Error{EINVAL, "line " + std::to_string(number) + " has another form than " +
                                   "'METRIC BEFORE FIRST RUNNING SECOND AFTER MINIMUM COUNT'"};
  }
  return minima;
}

std::string minima_text(const Minima& minima) {
  std::string text = std::string(format_line) + "\n";
  if (!minima.key.empty()) text += "key " + minima.key + "\n";
  for (const auto& [place, minimum] : minima.values) {
    text += place.first + ' ' + name_of(sequence_at(place.second)) + ' ' +
            std::to_string(minimum.value) + ' ' + std::to_string(minimum.count) + '\n';
  }
  return text;
}

pi::Result<Minima> read_minima(const std::string& path) {
  const auto file = pi::open_regular(path);
  if (!file)
    return pi::Error{file.error().code, "'" + path + "' cannot be read: " + file.error().message};
  const auto text = pi::read_whole(file->fd.get(), max_file);
  if (!text)
    return pi::Error{text.error().code,
                     "'" + path + "' cannot be read: " + std::strerror(text.error().code)};
  auto minima = parse_minima(*text);
  if (!minima)
    return pi::Error{EINVAL, "'" + path + "' is no file of minima: " + minima.error().message};
  return minima;
}

pi::Result<LoadedMinima> load_minima(const std::string& path, const std::string& key) {
  auto minima = read_minima(path);
  if (!minima) return minima.error();
  if (minima->key.empty() || minima->key == key) {
    std::string note = impossible_note(path, *minima);
    return LoadedMinima{std::move(*minima), std::move(note)};
  }
  return LoadedMinima{{},
                      "'" + path + "' is not used: its minima are of '" +
                          pi::printable(minima->key) + "', and this is '" + key + "'"};
}

// From the kernel: where virtual machines do not intercept CPUID, it names what the host has.
std::string processor_name() {
  constexpr std::string_view label = "model name\t: ";
  const auto text = pi::read_system_file("/proc/cpuinfo", 4096);
  const size_t at = text ? text->find(label) : std::string::npos;
  if (at == std::string::npos) return "unknown processor";
  std::string_view rest = std::string_view(*text).substr(at + label.size());
  return std::string(take_line(rest));
}

}  // namespace pi::callflow
