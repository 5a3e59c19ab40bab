// SPDX-License-Identifier: MIT
// Golden tests: case files with named parts, and comparison of texts with a readable difference.
#include "golden.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <sstream>

namespace test_support {
namespace {

std::string_view trimmed(std::string_view text) {
  while (text.starts_with('\n')) text.remove_prefix(1);
  while (text.ends_with('\n')) text.remove_suffix(1);
  return text;
}

std::vector<std::string> lines_of(std::string_view text) {
  std::vector<std::string> lines;
  std::istringstream in{std::string(text)};
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

}  // namespace

pi::Result<std::vector<CasePart>> read_case(const std::string& path) {
  std::ifstream in(path);
  if (!in) return pi::Error{-1, "cannot open " + path};
  std::vector<CasePart> parts;
  for (std::string line; std::getline(in, line);) {
    if (line.starts_with("=== "))
      parts.push_back({line.substr(4), ""});
    else if (!parts.empty())
      parts.back().text += line + "\n";
    else if (!line.empty() && !line.starts_with('#'))
      return pi::Error{-1, path + ": text before the first part: " + line};
  }
  return parts;
}

std::string text_difference(std::string_view expected, std::string_view actual) {
  const auto wanted = lines_of(trimmed(expected));
  const auto got = lines_of(trimmed(actual));
  if (wanted == got) return {};
  size_t first = 0;
  while (first < wanted.size() && first < got.size() && wanted[first] == got[first]) ++first;
  std::string text = fmt::format("first difference in line {}\n", first + 1);
  for (size_t i = first > 3 ? first - 3 : 0; i < first; ++i) text += "  " + wanted[i] + "\n";
  for (size_t i = first; i < std::min(first + 8, wanted.size()); ++i)
    text += "- " + wanted[i] + "\n";
  for (size_t i = first; i < std::min(first + 8, got.size()); ++i) text += "+ " + got[i] + "\n";
  return text + "(- expected, + actual)\n";
}

int compare_expected(const std::vector<CasePart>& parts,
                     const std::function<std::string(const std::string& what)>& actual) {
  constexpr std::string_view expect = "expect ";
  int compared = 0;
  int different = 0;
  for (const CasePart& part : parts) {
    if (!part.name.starts_with(expect)) continue;
    ++compared;
    const std::string difference =
        text_difference(part.text, actual(part.name.substr(expect.size())));
    if (difference.empty()) continue;
    ++different;
    std::fprintf(stderr, "%s: %s", part.name.c_str(), difference.c_str());
  }
  if (compared == 0) std::fprintf(stderr, "the case expects nothing\n");
  return compared == 0 || different != 0;
}

int run_golden(int argc, char** argv, int (*run_case)(const std::vector<CasePart>& parts)) {
  if (argc != 2) {
    std::fprintf(stderr, "Usage: %s FILE.case\n", argv[0]);
    return 2;
  }
  const auto parts = read_case(argv[1]);
  if (!parts) {
    std::fprintf(stderr, "%s\n", parts.error().message.c_str());
    return 1;
  }
  return run_case(*parts);
}

}  // namespace test_support
