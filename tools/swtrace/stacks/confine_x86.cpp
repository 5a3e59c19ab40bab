// SPDX-License-Identifier: MIT
// Takes all rights from the process that compiles tables.
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <iterator>

#include "nobody.h"
#include "table_child.h"

namespace pi::swtrace {
namespace {

// Sanitizers reserve more memory than any limit allows, and use other system calls.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool sanitized = true;
#else
constexpr bool sanitized = false;
#endif

// A file's mapping is address space, which costs memory for page tables.
constexpr rlim_t address_space = rlim_t{64} << 30;
constexpr uint64_t memory_floor = 256 << 20, memory_factor = 4, memory_cap = uint64_t{1} << 30;
constexpr rlim_t max_table_bytes = 256 << 20;
constexpr rlim_t processor_seconds = 60;  // for all files
constexpr rlim_t descriptors = 5;         // 0 to 2, and those of a request

bool limit(int resource, rlim_t value) {
  const rlimit both{value, value};
  return ::setrlimit(static_cast<__rlimit_resource_t>(resource), &both) == 0;
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

// Jumps over so many instructions if the loaded word is number.
constexpr sock_filter jump_if(uint32_t number, uint8_t over) {
  return BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, over, 0);
}

// The next instruction if the loaded word has one of these bits, otherwise the one after it.
constexpr sock_filter has(uint32_t bits) {
  return BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, bits, 0, 1);
}

constexpr sock_filter load_argument(size_t number) {
  return load(offsetof(seccomp_data, args) + number * sizeof(seccomp_data::args[0]));
}

// Calls that allocate, that receive a file, that write the result and that end the process. Memory
// must not become executable, nor be shared: the limit on memory does not count what is shared. The
// process may change that limit, up to the fixed one.
bool filter_system_calls() {
  constexpr uint32_t kill = SECCOMP_RET_KILL_PROCESS, allow = SECCOMP_RET_ALLOW;
  sock_filter program[] = {
      load(offsetof(seccomp_data, arch)),
      jump_if(AUDIT_ARCH_X86_64, 1),
      answer(kill),
      load(offsetof(seccomp_data, nr)),
      is(SYS_recvmsg),
      answer(allow),
      is(SYS_write),
      answer(allow),
      is(SYS_close),
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
      jump_if(SYS_mmap, 3),
      jump_if(SYS_mprotect, 5),
      jump_if(SYS_prlimit64, 8),
      answer(kill),
      load_argument(3),  // mmap(): the flags
      has(MAP_SHARED),
      answer(kill),
      load_argument(2),  // mmap() and mprotect(): the protection
      has(PROT_EXEC),
      answer(kill),
      answer(allow),
      load_argument(0),  // prlimit64(): the process, which must be this one
      jump_if(0, 1),
      answer(kill),
      load_argument(1),
      jump_if(RLIMIT_DATA, 1),
      answer(kill),
      answer(allow),
  };
  const sock_fprog code{static_cast<unsigned short>(std::size(program)), program};
  return ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &code, 0, 0) == 0;
}

}  // namespace

bool confine() {
  if (!become_nobody() || !drop_capabilities() || ::prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) != 0 ||
      ::prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) != 0)  // a change of the user clears it
    return false;
  if (!limit(RLIMIT_CPU, processor_seconds) || !limit(RLIMIT_CORE, 0) || !limit(RLIMIT_NPROC, 0) ||
      !limit(RLIMIT_NOFILE, descriptors) || !limit(RLIMIT_FSIZE, max_table_bytes) ||
      (!sanitized && (!limit(RLIMIT_DATA, memory_cap) || !limit(RLIMIT_AS, address_space))))
    return false;
  return sanitized || filter_system_calls();
}

void limit_memory(uint64_t file_bytes) {
  if (sanitized) return;
  const uint64_t wanted = memory_floor + memory_factor * std::min(file_bytes, memory_cap);
  const rlimit both{std::min(memory_cap, wanted), memory_cap};
  ::setrlimit(RLIMIT_DATA, &both);
}

}  // namespace pi::swtrace
