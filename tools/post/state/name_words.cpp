// SPDX-License-Identifier: MIT
// Matches names with the words of one option (--process, --thread, ...).
#include "name_words.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <fnmatch.h>
#include <pi/similar_word.h>

#include <algorithm>
#include <charconv>
#include <cctype>

#include "text/short_name.h"
#include "text/text.h"

namespace post {
namespace {

// Maximum length of names that are kept for the advice on words without a match: a hostile program
// can have names of megabytes.
constexpr size_t most_seen = 10'000;
constexpr size_t longest_seen = 256;
constexpr size_t most_advised = 3;
constexpr size_t enough_letters = 3;  // shorter words are similar to too many names
constexpr size_t near_distance = 2;   // maximum edit distance; also at most a third of the letters

// Decimal, as ps shows it, or 0x and hexadecimal.
std::optional<uint32_t> id_from(std::string_view word) {
  const bool hex = word.starts_with("0x");
  if (hex) word.remove_prefix(2);
  uint32_t id = 0;
  const char* const end = word.data() + word.size();
  const auto [rest, problem] = std::from_chars(word.data(), end, id, hex ? 16 : 10);
  if (problem != std::errc() || rest != end) return {};
  return id;
}

std::string lower(std::string_view text) {
  std::string out(text);
  for (char& c : out) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return out;
}

// The word without its wildcards.
std::string letters_of(std::string_view word) {
  std::string letters = lower(word);
  std::erase_if(letters, [](char c) { return c == '*' || c == '?'; });
  return letters;
}

bool is_near(const std::string& letters, const std::string& name) {
  if (letters.size() < enough_letters || name.size() < enough_letters) return false;
  return name.find(letters) != std::string::npos || letters.find(name) != std::string::npos ||
         pi::edit_distance(letters, name) <= std::min(letters.size() / 3, near_distance);
}

}  // namespace

NameWords::NameWords(const Choice<std::string>& words) {
  for (const std::string& text : words.only) only_.push_back({text, id_from(text)});
  for (const std::string& text : words.without) without_.push_back({text, id_from(text)});
}

// All words are tried, to know those that match nothing.
bool NameWords::fit(std::vector<Word>& words, std::initializer_list<std::string_view> names,
                    std::optional<uint32_t> id) {
  bool fits = false;
  for (Word& word : words) {
    const bool fitting =
        (id && word.id == id) || std::ranges::any_of(names, [&](std::string_view name) {
          return word.text == name ||
                 ::fnmatch(word.text.c_str(), std::string(name).c_str(), 0) == 0;
        });
    word.fitted = word.fitted || fitting;
    fits = fits || fitting;
  }
  return fits;
}

NameWords::Fit NameWords::fit(std::initializer_list<std::string_view> names,
                              std::optional<uint32_t> id) {
  tried_ = true;
  const std::string_view first = *names.begin();
  if (seen_.size() < most_seen && !first.empty() && first.size() <= longest_seen &&
      !seen_.contains(first))
    seen_.emplace(first);
  return {fit(only_, names, id), fit(without_, names, id)};
}

bool NameWords::equals(std::vector<Word>& words, const std::vector<std::string>& names) {
  bool equal = false;
  for (Word& word : words) {
    const bool fitting = std::ranges::find(names, word.text) != names.end();
    word.fitted = word.fitted || fitting;
    equal = equal || fitting;
  }
  return equal;
}

// Patterns are for whole names: "f*" does not match "scope::f".
NameWords::Fit NameWords::fit_symbol(std::string_view name, const std::string& readable) {
  std::string_view plain = name;
  plain.remove_suffix(mark_of(plain).size());
  Fit found = fit({readable, name, plain});
  const std::vector<std::string> forms = name_forms(readable);
  found.add({equals(only_, forms), equals(without_, forms)});
  return found;
}

std::string NameWords::similar(const std::string& word) const {
  const std::string letters = letters_of(word);
  std::vector<std::string> near;
  for (const std::string& name : seen_)
    if (near.size() < most_advised && is_near(letters, lower(name)))
      near.push_back(printable(name));
  return near.empty() ? "" : fmt::format("; similar: {}", fmt::join(near, ", "));
}

std::vector<std::string> NameWords::unfitting(const char* option, std::string_view where) const {
  std::vector<std::string> sentences;
  if (!tried_) return sentences;
  const auto add = [&](const char* dashes, const std::vector<Word>& words) {
    for (const Word& word : words)
      if (!word.fitted)
        sentences.push_back(fmt::format("{}{} {} matches nothing{}{}.", dashes, option,
                                        printable(word.text), where, similar(word.text)));
  };
  add("--", only_);
  add("--no-", without_);
  return sentences;
}

}  // namespace post
