// SPDX-License-Identifier: MIT
// The functions that this library replaces: those of the next library that has them.
#include "next.h"

#include <array>
#include <atomic>
#include <cstdint>

namespace pi::heapit {
namespace {

Next functions;
std::atomic<bool> is_ready;
__attribute__((tls_model("initial-exec"))) thread_local bool is_looking;

constexpr size_t early_alignment = 16;
alignas(early_alignment) std::array<std::byte, 32 << 10> early;
std::atomic<size_t> early_used;

template <class Function>
void find(Function*& function, const char* name) {
  function = reinterpret_cast<Function*>(::dlsym(RTLD_NEXT, name));
}

// The C library still has the functions of 2002, under the same names and the version before.
template <class Function>
void find_condition(Function*& function, const char* name) {
  function = reinterpret_cast<Function*>(::dlvsym(RTLD_NEXT, name, "GLIBC_2.3.2"));
  if (!function) find(function, name);
}

void find_locks(Next& found) {
  find(found.mutex_lock, "pthread_mutex_lock");
  find(found.mutex_trylock, "pthread_mutex_trylock");
  find(found.mutex_timedlock, "pthread_mutex_timedlock");
  find(found.mutex_clocklock, "pthread_mutex_clocklock");
  find(found.rdlock, "pthread_rwlock_rdlock");
  find(found.tryrdlock, "pthread_rwlock_tryrdlock");
  find(found.timedrdlock, "pthread_rwlock_timedrdlock");
  find(found.clockrdlock, "pthread_rwlock_clockrdlock");
  find(found.wrlock, "pthread_rwlock_wrlock");
  find(found.trywrlock, "pthread_rwlock_trywrlock");
  find(found.timedwrlock, "pthread_rwlock_timedwrlock");
  find(found.clockwrlock, "pthread_rwlock_clockwrlock");
  find_condition(found.cond_wait, "pthread_cond_wait");
  find_condition(found.cond_timedwait, "pthread_cond_timedwait");
  find(found.cond_clockwait, "pthread_cond_clockwait");
}

// Several threads may do this at once: they find the same.
void find_all() {
  Next found{};
  find(found.malloc, "malloc");
  find(found.calloc, "calloc");
  find(found.realloc, "realloc");
  find(found.reallocarray, "reallocarray");
  find(found.free, "free");
  find(found.posix_memalign, "posix_memalign");
  find(found.aligned_alloc, "aligned_alloc");
  find(found.memalign, "memalign");
  find(found.valloc, "valloc");
  find(found.pvalloc, "pvalloc");
  find(found.dlclose, "dlclose");
  find_locks(found);
  functions = found;
  is_ready.store(true, std::memory_order_release);
}

}  // namespace

const Next* next_functions() {
  if (is_ready.load(std::memory_order_acquire)) return &functions;
  if (is_looking) return nullptr;
  is_looking = true;
  find_all();
  is_looking = false;
  return &functions;
}

void* early_memory(size_t bytes) {
  if (bytes > early.size()) return nullptr;
  const size_t rounded = (bytes + early_alignment - 1) / early_alignment * early_alignment;
  const size_t place = early_used.fetch_add(rounded);
  return place <= early.size() && rounded <= early.size() - place ? early.data() + place : nullptr;
}

bool is_early(const void* block) {
  const auto address = reinterpret_cast<uintptr_t>(block);
  const auto begin = reinterpret_cast<uintptr_t>(early.data());
  return address >= begin && address < begin + early.size();
}

size_t early_bytes_from(const void* block) {
  return static_cast<size_t>(early.data() + early.size() - static_cast<const std::byte*>(block));
}

}  // namespace pi::heapit
