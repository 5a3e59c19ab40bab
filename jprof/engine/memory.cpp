// SPDX-License-Identifier: MIT
// Memory of the engine: from mmap(), so that an event can be inside malloc().
#include "memory.h"

#include <sys/mman.h>

#include <cerrno>

namespace pi::callflow {

void* map_pages(size_t bytes) {
  const int error = errno;
  void* pages = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  // A huge page would be touched as a whole for the first frame of a stack.
  if (pages != MAP_FAILED) ::madvise(pages, bytes, MADV_NOHUGEPAGE);
  errno = error;
  return pages == MAP_FAILED ? nullptr : pages;
}

void unmap_pages(void* pages, size_t bytes) {
  if (pages) ::munmap(pages, bytes);
}

void* Arena::take(size_t bytes) {
  bytes = (bytes + 7) & ~size_t{7};
  if (!newest_ || newest_->used + bytes > chunk_bytes) {
    auto* chunk = static_cast<Chunk*>(map_pages(chunk_bytes));
    if (!chunk) return nullptr;
    chunk->next = newest_;
    chunk->used = sizeof(Chunk);
    newest_ = chunk;
  }
  void* taken = reinterpret_cast<char*>(newest_) + newest_->used;
  newest_->used += bytes;
  return taken;
}

void Arena::release() {
  while (newest_) {
    Chunk* next = newest_->next;
    unmap_pages(newest_, chunk_bytes);
    newest_ = next;
  }
}

}  // namespace pi::callflow
