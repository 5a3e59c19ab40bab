// SPDX-License-Identifier: MIT
// This library's own operator new, which no other library sees: it must not call malloc(), in whose
// midst it may be.
#include "arena.h"

#include <sys/mman.h>

#include <cstddef>
#include <new>

#include "next.h"
#include "thread.h"

namespace pi::heapit {
namespace {

// Much more than the rules of one function need.
constexpr size_t arena_bytes = 32 << 20, kept_bytes = 256 << 10, alignment = 16;

std::byte* arena;
size_t arena_used;

}  // namespace

void begin_arena() {
  this_thread.uses_arena = true;
  arena_used = 0;
  if (arena) return;
  void* memory = ::mmap(nullptr, arena_bytes, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory != MAP_FAILED) arena = static_cast<std::byte*>(memory);
}

void end_arena() {
  this_thread.uses_arena = false;
  if (arena_used > kept_bytes)
    ::madvise(arena + kept_bytes, arena_bytes - kept_bytes, MADV_DONTNEED);
}

}  // namespace pi::heapit

using namespace pi::heapit;

// Outside of the arena only the C++ library itself uses it, for exceptions.
void* operator new(size_t bytes) {
  if (!this_thread.uses_arena) {
    const Next* next = next_functions();
    void* block = next ? next->malloc(bytes) : nullptr;
    if (!block) throw std::bad_alloc();
    return block;
  }
  const size_t rounded = (bytes + alignment - 1) / alignment * alignment;
  if (!arena || bytes > arena_bytes || rounded > arena_bytes - arena_used) throw std::bad_alloc();
  std::byte* const block = arena + arena_used;
  arena_used += rounded;
  return block;
}

void operator delete(void* block) noexcept {
  const auto* byte = static_cast<std::byte*>(block);
  if (!block || (arena && byte >= arena && byte < arena + arena_bytes)) return;
  if (const Next* next = next_functions()) next->free(block);
}

void operator delete(void* block, size_t) noexcept {
  operator delete(block);
}
