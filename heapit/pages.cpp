// SPDX-License-Identifier: MIT
// Memory that does not come from malloc().
#include "pages.h"

#include <sys/mman.h>

namespace pi::heapit {

std::byte* map_pages(size_t bytes) {
  void* memory = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) return nullptr;
  ::madvise(memory, bytes, MADV_DONTFORK);
  return static_cast<std::byte*>(memory);
}

void unmap_pages(std::byte* memory, size_t bytes) {
  if (memory) ::munmap(memory, bytes);
}

}  // namespace pi::heapit
