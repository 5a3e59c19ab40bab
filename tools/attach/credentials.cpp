// SPDX-License-Identifier: MIT
// A forked process changes its identity to another process's user, irrevocably.
#include "credentials.h"

#include <fcntl.h>
#include <grp.h>
#include <linux/capability.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <string>
#include <vector>

#include <fmt/format.h>

namespace pi::attach {
namespace {

Error failure(const std::string& what) {
  return {1, fmt::format("Cannot {}: {}.", what, std::strerror(errno))};
}

bool drop_capabilities() {
  __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
  __user_cap_data_struct none[2]{};
  ::prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
  if (::syscall(SYS_capset, &header, none) != 0) return false;
  __user_cap_data_struct left[2]{};
  if (::syscall(SYS_capget, &header, left) != 0) return false;
  return std::ranges::all_of(left, [](const auto& set) {
    return set.effective == 0 && set.permitted == 0 && set.inheritable == 0;
  });
}

bool has_ids(uid_t uid, gid_t gid) {
  uid_t users[3]{};
  gid_t groups[3]{};
  if (::getresuid(&users[0], &users[1], &users[2]) != 0 ||
      ::getresgid(&groups[0], &groups[1], &groups[2]) != 0)
    return false;
  return std::ranges::count(users, uid) == 3 && std::ranges::count(groups, gid) == 3;
}

}  // namespace

Status detach_from_caller(std::span<const int> kept) {
  if (::prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) != 0) return failure("become non-dumpable");
  // Ctrl-C goes to the parent, which then ends this process.
  ::setsid();
  sigset_t all;
  sigfillset(&all);
  ::sigprocmask(SIG_SETMASK, &all, nullptr);
  const rlimit no_core{0, 0};
  ::setrlimit(RLIMIT_CORE, &no_core);
  ::umask(077);
  if (::chdir("/") != 0) return failure("change to the root directory");
  const int null = ::open("/dev/null", O_RDWR | O_CLOEXEC);
  if (null < 0) return failure("open /dev/null");
  for (int fd = 0; fd <= STDERR_FILENO; ++fd)
    if (null != fd && ::dup2(null, fd) < 0) return failure("redirect a standard descriptor");
  std::vector<int> sorted(kept.begin(), kept.end());
  std::ranges::sort(sorted);
  unsigned from = STDERR_FILENO + 1;
  for (const int fd : sorted) {
    const auto number = static_cast<unsigned>(fd);
    if (number > from && ::syscall(SYS_close_range, from, number - 1, 0) != 0)
      return failure("close descriptors");
    from = std::max(from, number + 1);
  }
  if (::syscall(SYS_close_range, from, ~0u, 0) != 0) return failure("close descriptors");
  return {};
}

Status become_user(uid_t uid, gid_t gid) {
  if (::geteuid() == 0 && ::setgroups(0, nullptr) != 0 && ::getgroups(0, nullptr) != 0)
    return failure("give up supplementary groups");
  if (::setresgid(gid, gid, gid) != 0) return failure(fmt::format("become group {}", gid));
  if (::setresuid(uid, uid, uid) != 0) return failure(fmt::format("become user {}", uid));
  if (!drop_capabilities()) return failure("give up capabilities");
  // Again: a change of the user resets this flag to fs.suid_dumpable.
  if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 || ::prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) != 0)
    return failure("become non-dumpable");
  if (!has_ids(uid, gid) || ::prctl(PR_GET_DUMPABLE, 0, 0, 0, 0) != 0)
    return Error{1, fmt::format("Cannot become user {}, group {}.", uid, gid)};
  return {};
}

}  // namespace pi::attach
