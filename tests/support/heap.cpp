// SPDX-License-Identifier: MIT
// Replaces operator new: counts bytes in use, and fails on request of a test.
#include "heap.h"

#include <malloc.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <new>

namespace {

std::atomic<long> left = -1;
std::atomic<uint64_t> in_use = 0;
std::atomic<uint64_t> peak = 0;

void* try_allocate(size_t size) noexcept {
  if (left == 0) return nullptr;
  if (left > 0) --left;
  void* const memory = std::malloc(size ? size : 1);
  if (!memory) return nullptr;
  const uint64_t now = in_use += malloc_usable_size(memory);
  for (uint64_t most = peak; most < now && !peak.compare_exchange_weak(most, now);) {
  }
  return memory;
}

void* allocate(size_t size) {
  if (void* memory = try_allocate(size)) return memory;
  throw std::bad_alloc();
}

void release(void* memory) noexcept {
  if (memory) in_use -= malloc_usable_size(memory);
  std::free(memory);
}

}  // namespace

void* operator new(size_t size) {
  return allocate(size);
}
void* operator new[](size_t size) {
  return allocate(size);
}
void* operator new(size_t size, const std::nothrow_t&) noexcept {
  return try_allocate(size);
}
void* operator new[](size_t size, const std::nothrow_t&) noexcept {
  return try_allocate(size);
}
void operator delete(void* memory) noexcept {
  release(memory);
}
void operator delete[](void* memory) noexcept {
  release(memory);
}
void operator delete(void* memory, size_t) noexcept {
  release(memory);
}
void operator delete[](void* memory, size_t) noexcept {
  release(memory);
}

namespace test_support {

void set_allocations_left(long count) {
  left = count;
}

HeapPeak::HeapPeak() : before_(in_use) {
  peak = before_;
}

uint64_t HeapPeak::bytes() const {
  return peak - before_;
}

}  // namespace test_support
