// SPDX-License-Identifier: MIT
// A forked process changes its identity to another process's user, irrevocably.
#ifndef PI_ATTACH_CREDENTIALS_H
#define PI_ATTACH_CREDENTIALS_H

#include <sys/types.h>

#include <span>

#include <pi/result.h>

namespace pi::attach {

// Leaves the caller's session and directory, redirects the standard descriptors to /dev/null, and
// closes all others except `kept`. Makes the process non-dumpable: processes of other users cannot
// inspect it.
Status detach_from_caller(std::span<const int> kept);

// Sets all user and group ids, drops all capabilities and, where the caller was root, all
// supplementary groups. This process cannot regain any of them.
Status become_user(uid_t uid, gid_t gid);

}  // namespace pi::attach

#endif  // PI_ATTACH_CREDENTIALS_H
