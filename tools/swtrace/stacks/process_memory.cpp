// SPDX-License-Identifier: MIT
// The memory of one process, which jobs of a MemoryThread read.
#include "process_memory.h"

#include <fcntl.h>
#include <unistd.h>

#include <pi/uninterrupted.h>

namespace pi::swtrace {

size_t ProcessMemory::read(uint64_t address, std::span<std::byte> bytes) {
  if (address > INT64_MAX) return 0;
  // It stays that of the program that runs then, whatever the process executes later.
  if (!is_opened_) memory_ = UniqueFd(::open(path_.c_str(), O_RDONLY | O_CLOEXEC));
  is_opened_ = true;
  if (!memory_) return 0;
  const auto got = uninterrupted([&] {
    return ::pread(memory_.get(), bytes.data(), bytes.size(), static_cast<off_t>(address));
  });
  return got > 0 ? static_cast<size_t>(got) : 0;
}

}  // namespace pi::swtrace
