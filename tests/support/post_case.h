// SPDX-License-Identifier: MIT
// Parts of golden cases shared by several golden programs.
#ifndef TESTS_SUPPORT_POST_CASE_H
#define TESTS_SUPPORT_POST_CASE_H

#include <options/options.h>

#include <sstream>
#include <string>
#include <variant>
#include <vector>

#include "fake_symbolizer.h"

namespace test_support {

// Parses post's options on one line; returns false when they are wrong, after post's own message.
inline bool parse_case_options(const std::string& text, post::Options& options) {
  std::istringstream words(text);
  std::vector<std::string> arguments;
  for (std::string word; words >> word;) arguments.push_back(word);
  auto parsed = post::parse_options(arguments);
  if (!std::holds_alternative<post::Options>(parsed)) return false;
  options = std::get<post::Options>(parsed);
  return true;
}

// Parses lines MODULE START SIZE NAME; START is an offset in the file, for vmlinux an address.
inline void add_symbols(const std::string& text, FakeSymbolizer& symbolizer) {
  std::istringstream in(text);
  std::string module, start, size, name;
  while (in >> module >> start >> size >> name)
    symbolizer.add_symbol(module, std::stoull(start, nullptr, 0), std::stoull(size, nullptr, 0),
                          name);
}

// Parses lines PID FROM UNTIL START SIZE NAME [INLINED OFFSET]: JIT code during [FROM, UNTIL); from
// OFFSET on, it is the inlined function INLINED.
inline void add_jitted(const std::string& text, FakeSymbolizer& symbolizer) {
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream in(line);
    std::string pid, from, until, start, size, offset;
    FakeSymbolizer::Jitted code{};
    if (!(in >> pid >> from >> until >> start >> size >> code.name)) continue;
    const auto number = [](const std::string& word) { return std::stoull(word, nullptr, 0); };
    code.pid = static_cast<uint32_t>(number(pid));
    code.from = number(from);
    code.until = number(until);
    code.start = number(start);
    code.size = number(size);
    if (in >> code.inlined >> offset) code.inlined_from = number(offset);
    symbolizer.add_jitted(code);
  }
}

// Parses lines MODULE START HH HH ...: machine code, START as for symbols; # begins a comment.
inline void add_code(const std::string& text, FakeSymbolizer& symbolizer) {
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream in(line.substr(0, line.find('#')));
    std::string module, start;
    if (!(in >> module >> start)) continue;
    std::vector<std::byte> bytes;
    for (std::string byte; in >> byte;)
      bytes.push_back(static_cast<std::byte>(std::stoi(byte, nullptr, 16)));
    symbolizer.add_code(module, std::stoull(start, nullptr, 0), std::move(bytes));
  }
}

// Parses lines PID TIME TID NAME: the runtime's name of a thread from TIME on.
inline void add_thread_starts(const std::string& text, FakeSymbolizer& symbolizer) {
  std::istringstream in(text);
  std::string pid, time, tid, name;
  while (in >> pid >> time >> tid >> name)
    symbolizer.add_thread_start(
        static_cast<uint32_t>(std::stoul(pid, nullptr, 0)),
        {std::stoull(time, nullptr, 0), static_cast<uint32_t>(std::stoul(tid, nullptr, 0)), name});
}

}  // namespace test_support

#endif  // TESTS_SUPPORT_POST_CASE_H
