// SPDX-License-Identifier: MIT
// Texts of Java class files, and names of methods. Part of the static library pi_files.
#ifndef PI_JAVA_TEXT_H
#define PI_JAVA_TEXT_H

#include <string>
#include <string_view>

namespace pi {

// A class file encodes a NUL in two bytes and a character beyond U+FFFF as two halves of three
// bytes each. Half a character, and invalid UTF-8, becomes U+FFFD.
std::string plain_utf8(std::string_view modified);

// The reverse; invalid UTF-8 becomes U+FFFD.
std::string modified_utf8(std::string_view plain);

// As names are in logs and traces (pi/jit_log.h): UTF-8, blanks and control characters replaced,
// cut where it is too long.
std::string java_log_name(std::string_view modified);

// "java/lang/String", "hashCode" and "()I" become "java/lang/String.hashCode()I". HotSpot generates
// linkers of method handles, one for each kind and signature, and does not report which one it is:
// all have one name.
std::string java_method_name(std::string_view owner, std::string_view name,
                             std::string_view signature);

}  // namespace pi

#endif  // PI_JAVA_TEXT_H
