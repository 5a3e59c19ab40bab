// SPDX-License-Identifier: MIT
// What a user types, and what is sent: the client's own words and the short forms of commands.
#ifndef PI_RTDRIVER_WORDS_H
#define PI_RTDRIVER_WORDS_H

#include <string>
#include <string_view>

namespace pi::rtdriver {

constexpr size_t max_line = 1024;  // bytes of a typed line

struct Translated {
  std::string message;      // for the JVMs; empty: nothing is sent
  bool help = false;        // print the client's help
  bool ends = false;        // the client ends after that
  bool to_all = true;       // false: an answer that is the same in all JVMs
  bool shuts_down = false;  // the connections end
};

// line: commands that are separated by commas.
Translated translate(std::string_view line);

// The help on typed words.
std::string words_help();

}  // namespace pi::rtdriver

#endif  // PI_RTDRIVER_WORDS_H
