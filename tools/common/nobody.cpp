// SPDX-License-Identifier: MIT
// Takes the rights of the super-user from a child process that reads hostile data.
#include "nobody.h"

#include <grp.h>
#include <linux/capability.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <initializer_list>

namespace pi {

bool become_nobody() {
  if (::geteuid() != 0) return true;
  constexpr uid_t first = 0x7ffe0000;
  const uid_t own = first + static_cast<uid_t>(::getpid() & 0xffff);
  ::setgroups(0, nullptr);
  for (const uid_t id : {own, uid_t{65534}})
    if (::setresgid(id, id, id) == 0 && ::setresuid(id, id, id) == 0) break;
  return ::geteuid() != 0 && ::getuid() != 0 && ::getgroups(0, nullptr) == 0;
}

bool drop_capabilities() {
  __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
  __user_cap_data_struct none[2]{};
  ::prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
  return ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && ::syscall(SYS_capset, &header, none) == 0;
}

}  // namespace pi
