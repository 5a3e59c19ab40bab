// SPDX-License-Identifier: MIT
// Takes all rights from the process that compiles a table.
#include <grp.h>
#include <linux/audit.h>
#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <iterator>

#include "table_child.h"

namespace pi::swtrace {
namespace {

// Sanitizers reserve more address space than any limit allows, and use other system calls.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool sanitized = true;
#else
constexpr bool sanitized = false;
#endif

constexpr uint64_t memory_floor = 256 << 20, memory_factor = 4, memory_cap = uint64_t{1} << 30;
constexpr rlim_t processor_seconds = 10;

bool limit(int resource, rlim_t value) {
  const rlimit both{value, value};
  return ::setrlimit(static_cast<__rlimit_resource_t>(resource), &both) == 0;
}

// A user that owns nothing and that no other process has; where such numbers do not exist, in a
// user namespace, the overflow user.
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
  return ::syscall(SYS_capset, &header, none) == 0;
}

constexpr sock_filter load(size_t offset) {
  return BPF_STMT(BPF_LD | BPF_W | BPF_ABS, static_cast<uint32_t>(offset));
}

constexpr sock_filter answer(uint32_t action) {
  return BPF_STMT(BPF_RET | BPF_K, action);
}

// The next instruction if the loaded word is number, otherwise the one after it.
constexpr sock_filter is(uint32_t number) {
  return BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, 1);
}

// Calls that allocate, that write the result and that end the process. Memory must not become
// executable: the third argument of mmap() and mprotect() is the protection.
bool filter_system_calls() {
  constexpr uint32_t kill = SECCOMP_RET_KILL_PROCESS, allow = SECCOMP_RET_ALLOW;
  constexpr uint32_t executable = 4;  // PROT_EXEC
  sock_filter program[] = {
      load(offsetof(seccomp_data, arch)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, AUDIT_ARCH_X86_64, 1, 0),
      answer(kill),
      load(offsetof(seccomp_data, nr)),
      is(SYS_write),
      answer(allow),
      is(SYS_brk),
      answer(allow),
      is(SYS_munmap),
      answer(allow),
      is(SYS_mremap),
      answer(allow),
      is(SYS_madvise),
      answer(allow),
      is(SYS_getrandom),
      answer(allow),
      is(SYS_futex),
      answer(allow),
      is(SYS_rt_sigreturn),
      answer(allow),
      is(SYS_exit),
      answer(allow),
      is(SYS_exit_group),
      answer(allow),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_mmap, 2, 0),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_mprotect, 1, 0),
      answer(kill),
      load(offsetof(seccomp_data, args[2])),
      BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, executable, 0, 1),
      answer(kill),
      answer(allow),
  };
  const sock_fprog code{static_cast<unsigned short>(std::size(program)), program};
  return ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &code, 0, 0) == 0;
}

}  // namespace

bool confine(uint64_t file) {
  const uint64_t memory = std::min(memory_cap, memory_floor + memory_factor * file);
  if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 || !become_nobody() || !drop_capabilities() ||
      ::prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) != 0 ||
      ::prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) != 0)  // a change of the user clears it
    return false;
  // The file's mapping counts as address space too.
  if (!limit(RLIMIT_CPU, processor_seconds) || !limit(RLIMIT_CORE, 0) || !limit(RLIMIT_NPROC, 0) ||
      !limit(RLIMIT_NOFILE, 0) || !limit(RLIMIT_FSIZE, memory) ||
      (!sanitized && !limit(RLIMIT_AS, file + memory)))
    return false;
  return sanitized || filter_system_calls();
}

}  // namespace pi::swtrace
