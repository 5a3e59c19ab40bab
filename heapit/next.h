// SPDX-License-Identifier: MIT
// The functions that this library replaces: those of the next library that has them.
#ifndef PI_HEAPIT_NEXT_H
#define PI_HEAPIT_NEXT_H

#include <dlfcn.h>
#include <malloc.h>
#include <pthread.h>
#include <stdlib.h>

#include <cstddef>

namespace pi::heapit {

struct Next {
  decltype(&::malloc) malloc;
  decltype(&::calloc) calloc;
  decltype(&::realloc) realloc;
  decltype(&::reallocarray) reallocarray;
  decltype(&::free) free;
  decltype(&::posix_memalign) posix_memalign;
  decltype(&::aligned_alloc) aligned_alloc;
  decltype(&::memalign) memalign;
  decltype(&::valloc) valloc;
  decltype(&::pvalloc) pvalloc;
  decltype(&::pthread_mutex_lock) mutex_lock;
  decltype(&::pthread_mutex_trylock) mutex_trylock;
  decltype(&::pthread_mutex_timedlock) mutex_timedlock;
  decltype(&::pthread_mutex_clocklock) mutex_clocklock;
  decltype(&::pthread_rwlock_rdlock) rdlock;
  decltype(&::pthread_rwlock_tryrdlock) tryrdlock;
  decltype(&::pthread_rwlock_timedrdlock) timedrdlock;
  decltype(&::pthread_rwlock_clockrdlock) clockrdlock;
  decltype(&::pthread_rwlock_wrlock) wrlock;
  decltype(&::pthread_rwlock_trywrlock) trywrlock;
  decltype(&::pthread_rwlock_timedwrlock) timedwrlock;
  decltype(&::pthread_rwlock_clockwrlock) clockwrlock;
  decltype(&::pthread_cond_wait) cond_wait;
  decltype(&::pthread_cond_timedwait) cond_timedwait;
  decltype(&::pthread_cond_clockwait) cond_clockwait;
  decltype(&::dlclose) dlclose;
};

// Null while this thread looks for them: dlsym() may allocate.
const Next* next_functions();

// Memory for that time. Null: none is left. It is never freed.
void* early_memory(size_t bytes);
bool is_early(const void* block);
// The bytes from there to the end of all of it.
size_t early_bytes_from(const void* block);

}  // namespace pi::heapit

#endif  // PI_HEAPIT_NEXT_H
