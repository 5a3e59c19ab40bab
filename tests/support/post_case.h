// SPDX-License-Identifier: MIT
// Parts of a golden case that the programs which run them have in common.
#ifndef TESTS_SUPPORT_POST_CASE_H
#define TESTS_SUPPORT_POST_CASE_H

#include <options.h>

#include <sstream>
#include <string>
#include <variant>
#include <vector>

#include "fake_symbolizer.h"

namespace test_support {

// post's options on one line; false when they are wrong, which post itself has then said.
inline bool parse_case_options(const std::string& text, post::Options& options) {
  std::istringstream words(text);
  std::vector<std::string> arguments;
  for (std::string word; words >> word;) arguments.push_back(word);
  auto parsed = post::parse_options(arguments);
  if (!std::holds_alternative<post::Options>(parsed)) return false;
  options = std::get<post::Options>(parsed);
  return true;
}

// MODULE START SIZE NAME, START counted from the file's beginning, for vmlinux an address.
inline void add_symbols(const std::string& text, FakeSymbolizer& symbolizer) {
  std::istringstream in(text);
  std::string module, start, size, name;
  while (in >> module >> start >> size >> name)
    symbolizer.add_symbol(module, std::stoull(start, nullptr, 0), std::stoull(size, nullptr, 0),
                          name);
}

}  // namespace test_support

#endif  // TESTS_SUPPORT_POST_CASE_H
