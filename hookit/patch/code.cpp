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

namespace pi::hookit {
namespace {

constexpr size_t page_bytes = 4096;
constexpr uintptr_t lowest = 0x10000;  // vm.mmap_min_addr
constexpr uintptr_t step = 0x10000;
constexpr uintptr_t reach = 0x60000000;  // of a search; a call reaches 0x7fffffff
constexpr size_t trampoline_bytes = 16;

bool reaches(uintptr_t site, uintptr_t page) {
  const uintptr_t distance = site > page ? site - page : page - site;
  return distance < 0x7fff0000;
}

// jmp *6(%rip), and the address at a multiple of 8.
void put_trampoline(uint8_t* place, void (*function)()) {
  constexpr uint8_t jump[8] = {0xff, 0x25, 0x02, 0x00, 0x00, 0x00, 0x0f, 0x0b};
  std::memcpy(place, jump, sizeof jump);
  std::memcpy(place + sizeof jump, &function, sizeof function);
}

uintptr_t map_at(uintptr_t address) {
  void* page = ::mmap(reinterpret_cast<void*>(address), page_bytes, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
  if (page == MAP_FAILED) return 0;
  if (page == reinterpret_cast<void*>(address)) return address;
  ::munmap(page, page_bytes);  // a kernel without MAP_FIXED_NOREPLACE
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
  UniqueFd memory(::open("/proc/self/mem", O_RDWR | O_CLOEXEC));
  if (memory.get() < 0)
    return Error{errno, std::string("/proc/self/mem, through which functions are patched, cannot "
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

uintptr_t Trampolines::near(uintptr_t site, bool after_endbr) {
  const auto known = std::find_if(pages_.begin(), pages_.end(),
                                  [&](uintptr_t page) { return reaches(site, page); });
  const uintptr_t second = after_endbr ? trampoline_bytes : 0;
  if (known != pages_.end()) return *known + second;
  const uintptr_t page = map_near(site);
  if (!page) return 0;
  auto* code = reinterpret_cast<uint8_t*>(page);
  put_trampoline(code, hookit_entered);
  put_trampoline(code + trampoline_bytes, hookit_entered_after_endbr);
  if (::mprotect(code, page_bytes, PROT_READ | PROT_EXEC) != 0) {
    ::munmap(code, page_bytes);
    return 0;
  }
  pages_.push_back(page);
  return page + second;
}

}  // namespace pi::hookit
