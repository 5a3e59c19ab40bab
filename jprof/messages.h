// SPDX-License-Identifier: MIT
// What JProf tells its user.
#ifndef PI_JPROF_MESSAGES_H
#define PI_JPROF_MESSAGES_H

#include <string>
#include <string_view>

namespace pi::jprof {

// "JProf: TEXT." as one line to stderr, which is the JVM's.
void say(std::string_view text);

// As it is.
void print(std::string_view text);

}  // namespace pi::jprof

#endif  // PI_JPROF_MESSAGES_H
