// SPDX-License-Identifier: MIT
// Messages of JProf to its user.
#ifndef PI_JPROF_MESSAGES_H
#define PI_JPROF_MESSAGES_H

#include <string>
#include <string_view>

namespace pi::jprof {

// Writes "JProf: TEXT." as one line to stderr, which is the JVM's; control characters as numbers.
void say(std::string_view text);

// Writes the text unchanged.
void print(std::string_view text);

}  // namespace pi::jprof

#endif  // PI_JPROF_MESSAGES_H
