// SPDX-License-Identifier: MIT
// A forked process takes the identity of another process's user, for good.
#ifndef PI_ATTACH_CREDENTIALS_H
#define PI_ATTACH_CREDENTIALS_H

#include <sys/types.h>

#include <span>

#include <pi/result.h>

namespace pi::attach {

// Leaves the caller's session and directory, puts /dev/null in the place of the standard
// descriptors, and closes all others but these. No other user's process can look into this one.
Status detach_from_caller(std::span<const int> kept);

// All user and group ids are the given ones, there is no capability and, where the caller was root,
// no supplementary group. Nothing that this process does later brings any of it back.
Status become_user(uid_t uid, gid_t gid);

}  // namespace pi::attach

#endif  // PI_ATTACH_CREDENTIALS_H
