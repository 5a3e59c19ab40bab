// SPDX-License-Identifier: MIT
// Text of other programs made harmless for a terminal. Part of the static library pi_files.
#ifndef PI_PRINTABLE_H
#define PI_PRINTABLE_H

#include <string>
#include <string_view>

namespace pi {

// The text with each byte of the following written as \xNN, so that a name can neither break a
// line nor steer a terminal: control characters, but for those in kept; invisible characters,
// such as direction overrides; bytes that are not valid UTF-8. Nothing is cut. Thread-safe.
std::string printable(std::string_view text, std::string_view kept = {});

}  // namespace pi

#endif  // PI_PRINTABLE_H
