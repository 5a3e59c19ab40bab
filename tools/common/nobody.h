// SPDX-License-Identifier: MIT
// Takes the rights of the super-user from a child process that reads hostile data.
#ifndef PI_TOOLS_COMMON_NOBODY_H
#define PI_TOOLS_COMMON_NOBODY_H

namespace pi {

// The super-user becomes a user that owns nothing and that no other process has; where such numbers
// do not exist, in a user namespace, the overflow user. Another user stays the same. False if the
// process still is the super-user.
bool become_nobody();

// Without capabilities, and without any way to get some by exec().
bool drop_capabilities();

}  // namespace pi

#endif  // PI_TOOLS_COMMON_NOBODY_H
