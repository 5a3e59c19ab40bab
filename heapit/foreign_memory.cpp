// SPDX-License-Identifier: MIT
// Memory of a process, which need not be there.
#include "foreign_memory.h"

#include <signal.h>

#include <algorithm>

namespace pi::heapit {

ForeignMemory::ForeignMemory(pid_t pid, const char* pagemap)
    : pid_(pid), pagemap_(pagemap, O_RDONLY) {}

void ForeignMemory::read_directly() {
  struct sigaction action {};
  action.sa_handler = [](int) { siglongjmp(at_fault, 1); };
  action.sa_flags = SA_NODEFER;
  sigset_t faults;
  sigemptyset(&faults);
  for (const int signal : {SIGSEGV, SIGBUS}) {
    if (::sigaction(signal, &action, nullptr) != 0) return;
    sigaddset(&faults, signal);
  }
  is_direct_ = ::sigprocmask(SIG_UNBLOCK, &faults, nullptr) == 0;
}

size_t ForeignMemory::read(std::span<const iovec> to, std::span<const iovec> from) const {
  const long count =
      ::syscall(SYS_process_vm_readv, pid_, to.data(), to.size(), from.data(), from.size(), 0);
  return count < 0 ? 0 : static_cast<size_t>(count);
}

size_t ForeignMemory::read(uint64_t address, std::span<std::byte> to) const {
  const iovec here{to.data(), to.size()};
  const iovec there{reinterpret_cast<void*>(address), to.size()};
  return read(std::span(&here, 1), std::span(&there, 1));
}

uint64_t ForeignMemory::load(uint64_t first, uint64_t wanted) {
  const uint64_t count = std::min<uint64_t>(wanted, states_.size());
  const long bytes = ::syscall(SYS_pread64, pagemap_.number(), states_.data(),
                               count * sizeof(uint64_t), first * sizeof(uint64_t));
  return bytes <= 0 ? 0 : static_cast<uint64_t>(bytes) / sizeof(uint64_t);
}

// Documentation/admin-guide/mm/pagemap.rst of the kernel.
bool ForeignMemory::is_wanted(uint64_t state, Pages pages) {
  constexpr uint64_t present = uint64_t{1} << 63, swapped = uint64_t{1} << 62,
                     of_file = uint64_t{1} << 61;
  if ((state & (present | swapped)) == 0) return false;
  return pages == Pages::present || (state & of_file) == 0;
}

}  // namespace pi::heapit
