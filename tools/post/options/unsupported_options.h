// SPDX-License-Identifier: MIT
// Options of Performance Inspector's post that this one does not have, each with the reason.
#ifndef POST_UNSUPPORTED_OPTIONS_H
#define POST_UNSUPPORTED_OPTIONS_H

#include <span>
#include <string>
#include <string_view>

namespace post {

struct UnsupportedOption {
  const char* name;    // without dash
  const char* reason;  // "... is not supported: REASON; "
  const char* instead;
};

// All unsupported options; the manual post(1) contains the same list.
std::span<const UnsupportedOption> unsupported_options();

// Returns the unsupported option in a word of the command line, such as "-mask=ff"; or nullptr.
const UnsupportedOption* find_unsupported(std::string_view word);

}  // namespace post

#endif  // POST_UNSUPPORTED_OPTIONS_H
