// SPDX-License-Identifier: MIT
// The process's own code: writing it, and memory near it.
#include "code.h"

#include <fcntl.h>
#include <linux/membarrier.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string>

#include "events.h"
#include "nops.h"

namespace pi::hookit {
namespace {

constexpr uintptr_t lowest = 0x10000;  // vm.mmap_min_addr
constexpr uintptr_t step = 0x10000;
constexpr uintptr_t reach = 0x60000000;  // of a search; a jump reaches 0x7fffffff
constexpr size_t memory_bytes = step;    // for the trampolines of 2,048 functions

struct Trampoline {
  // push 10(%rip); jmp *12(%rip); ud2; ud2
  uint8_t code[16] = {0xff, 0x35, 0x0a, 0, 0, 0, 0xff, 0x25, 0x0c, 0, 0, 0, 0x0f, 0x0b, 0x0f, 0x0b};
  uintptr_t continues;
  void (*target)();
};
static_assert(sizeof(Trampoline) == 32);

bool reaches(uintptr_t site, uintptr_t target) {
  const uintptr_t distance = site > target ? site - target : target - site;
  return distance < 0x7fff0000;
}

uintptr_t map_at(uintptr_t address) {
  void* page = ::mmap(reinterpret_cast<void*>(address), memory_bytes, PROT_READ | PROT_EXEC,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
  if (page == MAP_FAILED) return 0;
  if (page == reinterpret_cast<void*>(address)) return address;
  ::munmap(page, memory_bytes);  // a kernel without MAP_FIXED_NOREPLACE
  return 0;
}

// Below the module first: above a program is its heap.
uintptr_t map_near(uintptr_t site) {
  const uintptr_t from = site & ~(step - 1);
  for (uintptr_t down = step; down < reach && from >= lowest + down; down += step)
    if (const uintptr_t page = map_at(from - down)) return page;
  for (uintptr_t up = step; up < reach; up += step)
    if (const uintptr_t page = map_at(from + up)) return page;
  return 0;
}

}  // namespace

Result<CodeWriter> CodeWriter::open() {
  // Not /proc/self, which has none after the main thread has called pthread_exit().
  UniqueFd memory(::open("/proc/thread-self/mem", O_RDWR | O_CLOEXEC));
  if (memory.get() < 0)
    return Error{errno,
                 std::string("/proc/thread-self/mem, through which functions are patched, cannot "
                             "be opened: ") +
                     std::strerror(errno)};
  if (::syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED_SYNC_CORE, 0, 0) != 0)
    return Error{errno,
                 "Functions cannot be patched: this kernel has no membarrier() that "
                 "serialises processors"};
  return CodeWriter(std::move(memory));
}

bool CodeWriter::write(uintptr_t address, std::span<const uint8_t> bytes) const {
  return ::pwrite(memory_.get(), bytes.data(), bytes.size(), static_cast<off_t>(address)) ==
         static_cast<ssize_t>(bytes.size());
}

bool CodeWriter::read(uintptr_t address, std::span<uint8_t> bytes) const {
  return ::pread(memory_.get(), bytes.data(), bytes.size(), static_cast<off_t>(address)) ==
         static_cast<ssize_t>(bytes.size());
}

bool CodeWriter::synchronise() const {
  return ::syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED_SYNC_CORE, 0, 0) == 0;
}

uintptr_t Trampolines::of(const CodeWriter& code, uintptr_t site, bool after_endbr) {
  uintptr_t& known = known_[after_endbr][site];
  if (known) return known;
  auto memory = std::find_if(memory_.begin(), memory_.end(), [&](const Memory& m) {
    return m.next < m.end && reaches(site, m.next);
  });
  if (memory == memory_.end()) {
    const uintptr_t begin = map_near(site);
    if (!begin) return 0;
    memory = memory_.insert(memory_.end(), {begin, begin + memory_bytes});
  }
  const Trampoline trampoline{.continues = site + patch_bytes,
                              .target = after_endbr ? hookit_entered_after_endbr : hookit_entered};
  uint8_t bytes[sizeof trampoline];
  std::memcpy(bytes, &trampoline, sizeof bytes);
  if (!code.write(memory->next, bytes)) return 0;
  known = memory->next;
  memory->next += sizeof trampoline;
  return known;
}

}  // namespace pi::hookit
