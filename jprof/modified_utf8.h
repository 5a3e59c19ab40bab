// SPDX-License-Identifier: MIT
// Java's own form of UTF-8.
#ifndef PI_JPROF_MODIFIED_UTF8_H
#define PI_JPROF_MODIFIED_UTF8_H

#include <string>
#include <string_view>

namespace pi::jprof {

// A class file encodes a NUL in two bytes and a character beyond U+FFFF as two halves of three
// bytes each. Half a character, and invalid UTF-8, becomes U+FFFD.
std::string plain_utf8(std::string_view modified);

// The reverse; invalid UTF-8 becomes U+FFFD.
std::string modified_utf8(std::string_view plain);

}  // namespace pi::jprof

#endif  // PI_JPROF_MODIFIED_UTF8_H
