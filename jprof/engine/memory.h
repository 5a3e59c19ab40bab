// SPDX-License-Identifier: MIT
// Memory of the engine: from mmap(), so that an event can be inside malloc().
#ifndef PI_CALLFLOW_MEMORY_H
#define PI_CALLFLOW_MEMORY_H

#include <cstddef>

namespace pi::callflow {

// Zeroed pages that the kernel provides when they are touched; null if there are none. Keeps errno.
void* map_pages(size_t bytes);
void unmap_pages(void* pages, size_t bytes);

// Takes zeroed memory from chunks; it is released as a whole. For one thread.
class Arena {
 public:
  static constexpr size_t chunk_bytes = 256 << 10;

  // At most half of chunk_bytes, aligned to 8; null if there is no memory.
  void* take(size_t bytes);
  void release();

 private:
  struct Chunk {
    Chunk* next;  // the one mapped before
    size_t used;  // bytes, this head included
  };
  Chunk* newest_ = nullptr;
};

}  // namespace pi::callflow

#endif  // PI_CALLFLOW_MEMORY_H
