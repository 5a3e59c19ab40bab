// SPDX-License-Identifier: MIT
// Options of the original post that this one does not have, each with the reason.
#ifndef POST_DECLINED_H
#define POST_DECLINED_H

#include <span>
#include <string>
#include <string_view>

namespace post {

struct Declined {
  const char* name;    // without dash
  const char* reason;  // "... is not supported: REASON; "
  const char* instead;
};

// All of them; the manual post(1) lists the same.
std::span<const Declined> declined_options();

// The one that a word of the command line, such as "-mask=ff", stands for; null for none.
const Declined* find_declined(std::string_view word);

}  // namespace post

#endif  // POST_DECLINED_H
