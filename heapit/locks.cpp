// SPDX-License-Identifier: MIT
// The functions of the C library that wait for a lock or a condition.
//
// A lock is first tried: a thread that gets it at once costs that attempt, and is not counted. The
// path is found before the thread waits, so the lock is held no longer than without this library.
#include <time.h>

#include <cerrno>

#include "next.h"
#include "session.h"
#include "thread.h"

namespace pi::heapit {
namespace {

uint64_t now() {
  timespec time{};
  ::clock_gettime(CLOCK_MONOTONIC, &time);
  return static_cast<uint64_t>(time.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(time.tv_nsec);
}

// The path of a wait that begins now. A thread that is cancelled while it waits has not waited.
class Wait {
 public:
  [[gnu::noinline]] Wait(Session& session, heap_log::Kind kind, const Here& here) {
    if (const Inside inside; inside) path_ = &session.path(kind, here);
    begin_ = now();
  }
  int end(int error) {
    const uint64_t end = now();
    if (const Inside inside; path_) add_wait(*path_, end - begin_);
    return error;
  }

 private:
  heap_log::Path* path_ = nullptr;
  uint64_t begin_;
};

}  // namespace
}  // namespace pi::heapit

using namespace pi::heapit;
namespace log = pi::heap_log;

// wait: the call that waits.
#define PI_WAIT(kind, wait)                       \
  do {                                            \
    Session* const session = Session::of_locks(); \
    if (!session) return wait;                    \
    Wait waited(*session, kind, here());          \
    return waited.end(wait);                      \
  } while (false)

// attempt: the call that does not wait.
#define PI_TRY(kind, attempt, wait)                              \
  do {                                                           \
    if (const int error = attempt; error != EBUSY) return error; \
    PI_WAIT(kind, wait);                                         \
  } while (false)

#pragma GCC visibility push(default)
extern "C" {

int pthread_mutex_lock(pthread_mutex_t* mutex) noexcept {
  const Next* next = next_functions();
  if (!next) return 0;
  PI_TRY(log::mutex, next->mutex_trylock(mutex), next->mutex_lock(mutex));
}

int pthread_mutex_timedlock(pthread_mutex_t* mutex, const timespec* end) noexcept {
  const Next* next = next_functions();
  if (!next) return 0;
  PI_TRY(log::mutex, next->mutex_trylock(mutex), next->mutex_timedlock(mutex, end));
}

int pthread_mutex_clocklock(pthread_mutex_t* mutex, clockid_t clock, const timespec* end) noexcept {
  const Next* next = next_functions();
  if (!next) return 0;
  PI_TRY(log::mutex, next->mutex_trylock(mutex), next->mutex_clocklock(mutex, clock, end));
}

int pthread_rwlock_rdlock(pthread_rwlock_t* lock) noexcept {
  const Next* next = next_functions();
  if (!next) return 0;
  PI_TRY(log::read_lock, next->tryrdlock(lock), next->rdlock(lock));
}

int pthread_rwlock_timedrdlock(pthread_rwlock_t* lock, const timespec* end) noexcept {
  const Next* next = next_functions();
  if (!next) return 0;
  PI_TRY(log::read_lock, next->tryrdlock(lock), next->timedrdlock(lock, end));
}

int pthread_rwlock_clockrdlock(pthread_rwlock_t* lock, clockid_t clock,
                               const timespec* end) noexcept {
  const Next* next = next_functions();
  if (!next) return 0;
  PI_TRY(log::read_lock, next->tryrdlock(lock), next->clockrdlock(lock, clock, end));
}

int pthread_rwlock_wrlock(pthread_rwlock_t* lock) noexcept {
  const Next* next = next_functions();
  if (!next) return 0;
  PI_TRY(log::write_lock, next->trywrlock(lock), next->wrlock(lock));
}

int pthread_rwlock_timedwrlock(pthread_rwlock_t* lock, const timespec* end) noexcept {
  const Next* next = next_functions();
  if (!next) return 0;
  PI_TRY(log::write_lock, next->trywrlock(lock), next->timedwrlock(lock, end));
}

int pthread_rwlock_clockwrlock(pthread_rwlock_t* lock, clockid_t clock,
                               const timespec* end) noexcept {
  const Next* next = next_functions();
  if (!next) return 0;
  PI_TRY(log::write_lock, next->trywrlock(lock), next->clockwrlock(lock, clock, end));
}

int pthread_cond_wait(pthread_cond_t* condition, pthread_mutex_t* mutex) {
  const Next* next = next_functions();
  if (!next) return 0;
  PI_WAIT(log::condition, next->cond_wait(condition, mutex));
}

int pthread_cond_timedwait(pthread_cond_t* condition, pthread_mutex_t* mutex, const timespec* end) {
  const Next* next = next_functions();
  if (!next) return 0;
  PI_WAIT(log::condition, next->cond_timedwait(condition, mutex, end));
}

int pthread_cond_clockwait(pthread_cond_t* condition, pthread_mutex_t* mutex, clockid_t clock,
                           const timespec* end) {
  const Next* next = next_functions();
  if (!next) return 0;
  PI_WAIT(log::condition, next->cond_clockwait(condition, mutex, clock, end));
}
}
#pragma GCC visibility pop
