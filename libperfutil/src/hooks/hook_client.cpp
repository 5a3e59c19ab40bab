// SPDX-License-Identifier: MIT
// User hooks on the side of the process that writes them: finds the trace and stores records in it.
#include "hook_client.h"

#include <linux/membarrier.h>
#include <pthread.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <ctime>

#include <pi/no_cancel.h>

#include "hook_attachment.h"
#include "hook_threads.h"

namespace pi::perfutil {
namespace {

constexpr uint64_t retry_ns = 100'000'000;  // between two attempts to find a trace
constexpr size_t page_bytes = 4096;

// The state of user hooks in this process. Its pages are empty in a child of fork() or clone(), so
// that the child can never write to its parent's rings; it is static, so that dlclose() frees it
// and no hook allocates memory. All zero is the initial state, which keeps it out of the pages that
// are mapped from the library's file.
//
// A thread is inside between enter() and leave(), which costs a store and a load, and uses the
// attachment only while page is set. detach() clears page, makes all threads see that by
// membarrier(), and unmaps only if no thread is inside; else it fails and is tried again later.
struct alignas(page_bytes) Process {
  std::atomic<const pitrace_hook_page*> page;  // null: threads must not use the attachment
  std::atomic<uint32_t> generation;            // of attachment; 0: there is none
  std::atomic<uint32_t> broken;                // the attachment of this generation is useless
  std::atomic<uint32_t> busy;                  // the thread that attaches or detaches
  std::atomic<uint32_t> unregistered_threads;  // threads inside that have no entry
  std::atomic<uint64_t> next_try;              // coarse clock, nanoseconds
  HookAttachment attachment;
  HookThreads threads;
};

constinit Process own{};

// Kept in a child: generation numbers are not used twice, and the inherited connection can be
// closed.
uint32_t last_generation;
WatchedFd inherited;

// Initial-exec: no memory is allocated for them when a signal handler is the first to ask.
__attribute__((tls_model("initial-exec"))) thread_local HookThread* own_entry;
__attribute__((tls_model("initial-exec"))) thread_local uint64_t own_claim;

uint32_t own_tid() {
  return static_cast<uint32_t>(::syscall(SYS_gettid));
}

uint64_t coarse_clock() {
  timespec now;
  ::clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
  return static_cast<uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(now.tv_nsec);
}

// In a child the parent's connection would hide the end of the parent from the recorder.
void after_fork_in_child() {
  const NoCancel off;
  // Only where madvise(MADV_WIPEONFORK) has failed.
  if (own.generation != 0 || own.threads.used() != 0)
    std::memset(static_cast<void*>(&own), 0, sizeof own);
  inherited.close();
}

__attribute__((constructor)) void prepare() {
  ::madvise(&own, sizeof own, MADV_WIPEONFORK);
  ::pthread_atfork(nullptr, nullptr, after_fork_in_child);
}

// Guards system calls: the program's errno must not change, and its thread must not be cancelled
// while it holds busy or is inside. Only system calls are points of cancellation, and the guard
// costs some function calls, so it is used around system calls only.
class SystemCalls {
 public:
  SystemCalls() : error_(errno) {}
  SystemCalls(const SystemCalls&) = delete;
  SystemCalls& operator=(const SystemCalls&) = delete;
  ~SystemCalls() { errno = error_; }

 private:
  NoCancel no_cancel_;  // first: errno is restored before
  int error_;
};

// A signal handler that interrupts this and claims an entry takes over the one claimed here. Then
// own_claim differs from the entry's owner, and this_thread() claims again. Not inlined, so that
// this_thread() saves no registers.
__attribute__((noinline, cold)) HookThread* claim_entry() {
  const SystemCalls around;
  HookThread* const entry = own.threads.claim();
  if (!entry) return nullptr;
  own_claim = entry->owner.load(std::memory_order_relaxed);
  own_entry = entry;
  return entry;
}

HookThread* this_thread() {
  HookThread* const entry = own_entry;
  if (entry && entry->owner.load(std::memory_order_relaxed) == own_claim) [[likely]]
    return entry;
  return claim_entry();
}

// thread is null when there are more threads than entries.
const pitrace_hook_page* enter(HookThread* thread) {
  if (thread)
    pitrace_write(thread->nest, pitrace_read(thread->nest) + 1);
  else
    own.unregistered_threads.fetch_add(1, std::memory_order_seq_cst);
  // A barrier for the compiler only: no_thread_inside() provides the one for the processor.
  pitrace_barrier();
  return own.page.load(std::memory_order_acquire);
}

void leave(HookThread* thread) {
  pitrace_barrier();
  if (thread)
    pitrace_store_release(&thread->nest, pitrace_read(thread->nest) - 1);
  else
    own.unregistered_threads.fetch_sub(1, std::memory_order_release);
}

// ---- attaching and detaching: one thread at a time, which holds busy ----

// page must be null. True when no thread is between enter() and leave().
bool no_thread_inside() {
  if (::syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0) != 0) return false;
  for (uint32_t i = 0; i < own.threads.used(); ++i)
    if (pitrace_load_acquire(&own.threads.at(i).nest) != 0) return false;
  return own.unregistered_threads.load(std::memory_order_acquire) == 0;
}

// False when a thread is still inside: try again later.
bool detach() {
  own.page.store(nullptr, std::memory_order_relaxed);
  if (own.generation.load(std::memory_order_relaxed) == 0) return true;
  if (!no_thread_inside()) return false;
  for (uint32_t i = 0; i < own.threads.used(); ++i) {
    HookThread& thread = own.threads.at(i);
    if (thread.mapping) own.attachment.unmap_ring(thread.mapping);
    thread.mapping = nullptr;
    thread.generation = 0;
  }
  own.attachment.detach();
  inherited = {};
  own.generation.store(0, std::memory_order_relaxed);
  return true;
}

bool attach() {
  // In a child that was created without fork handlers.
  inherited.close();
  ::syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0);
  if (!own.attachment.attach()) return false;
  inherited = own.attachment.fd;
  own.broken.store(0, std::memory_order_relaxed);
  own.generation.store(++last_generation, std::memory_order_relaxed);
  own.page.store(own.attachment.page, std::memory_order_release);
  return true;
}

// Detaches and attaches again. After a failure the next attempt is delayed; the longer this attempt
// took, the longer.
bool try_to_attach(uint64_t now) {
  own.next_try.store(now + retry_ns, std::memory_order_release);
  if (!detach()) return false;
  if (attach()) return true;
  const uint64_t then = coarse_clock();
  own.next_try.store(then + retry_ns + 20 * (then - now), std::memory_order_relaxed);
  return false;
}

// Waits until thread holder has attached or detached. False when this is a signal handler that
// interrupts that thread.
bool wait_for(uint32_t holder) {
  if (holder == own_tid()) return false;
  const timespec pause{0, 50'000};
  while (own.busy.load(std::memory_order_acquire) == holder) ::nanosleep(&pause, nullptr);
  return true;
}

bool is_open_after(uint32_t seen) {
  return own.page.load(std::memory_order_acquire) &&
         own.generation.load(std::memory_order_relaxed) != seen;
}

// Called when page was null (seen is 0) or the attachment of generation seen was useless. True when
// the caller should try again.
bool renew(uint32_t seen) {
  const SystemCalls around;
  // Read before busy: when next_try is the new value of another thread, that thread is still busy,
  // or what it has found is visible.
  const uint64_t next_try = own.next_try.load(std::memory_order_acquire);
  uint32_t holder = own.busy.load(std::memory_order_acquire);
  if (holder != 0) return wait_for(holder);
  if (is_open_after(seen)) return true;
  const uint64_t now = coarse_clock();
  if (now < next_try) return false;
  if (!own.busy.compare_exchange_strong(holder, own_tid(), std::memory_order_acq_rel))
    return wait_for(holder);
  // Another thread may have attached since.
  const bool is_due = now >= own.next_try.load(std::memory_order_relaxed);
  const bool open = is_open_after(seen) || (is_due && try_to_attach(now));
  own.busy.store(0, std::memory_order_release);
  return open;
}

// Runs at dlclose(), after which there are no more calls, and at exit(), when other threads may
// still write hooks: then the mappings that they use are kept.
__attribute__((destructor)) void detach_on_unload() {
  const NoCancel off;
  uint32_t no_thread = 0;
  if (!own.busy.compare_exchange_strong(no_thread, own_tid(), std::memory_order_acq_rel)) return;
  (void)detach();
  own.busy.store(0, std::memory_order_release);
}

// ---- storing: between enter() and leave() ----

// The first record of a thread in this attachment. False when there is no memory, and in a signal
// handler that interrupts this.
bool set_up_ring(HookThread& thread) {
  const SystemCalls around;
  if (pitrace_read(thread.setting_up)) return false;
  pitrace_write(thread.setting_up, 1);
  pitrace_barrier();
  const HookAttachment& attachment = own.attachment;
  const uint32_t index = own.threads.index_of(thread);
  std::byte* mapping = attachment.map_ring(index);
  if (mapping) {
    pitrace_ring& ring = thread.ring;
    thread.mapping = mapping;
    ring.head = reinterpret_cast<pitrace_buffer_head*>(mapping);
    ring.data = reinterpret_cast<__u8*>(mapping + PITRACE_HEAD_BYTES);
    ring.size = attachment.ring_bytes;
    pitrace_ring_reset(&ring, attachment.ring_bytes / 2, false);
    // Release: the recorder sees the ring's head as it is now.
    __u32 used = pitrace_read(attachment.area->used);
    while (used <= index &&
           !__atomic_compare_exchange_n(&attachment.area->used, &used, index + 1, false,
                                        __ATOMIC_RELEASE, __ATOMIC_RELAXED)) {
    }
    pitrace_barrier();
    thread.generation = own.generation.load(std::memory_order_relaxed);
  }
  pitrace_barrier();
  pitrace_write(thread.setting_up, 0);
  return mapping != nullptr;
}

void wake_recorder() {
  const SystemCalls around;
  if (!own.attachment.wake_recorder()) own.broken.store(1, std::memory_order_relaxed);
}

int store_in_ring(HookThread* thread, const HookRecord& record, uint32_t size) {
  const bool has_ring =
      thread && (thread->generation == own.generation.load(std::memory_order_relaxed) ||
                 set_up_ring(*thread));
  if (!has_ring) {
    __atomic_fetch_add(&own.attachment.area->lost, 1, __ATOMIC_RELAXED);
    return PU_ERROR_BUFFER_FULL;
  }
  pitrace_ring* const ring = &thread->ring;
  const uint32_t whole = size + hook_cpu_bytes;
  int result = PU_SUCCESS;
  __u64 time;
  pitrace_ring_enter(ring);
  if (auto* place = static_cast<__u8*>(pitrace_ring_reserve(ring, whole, &time))) {
    record.encode(place, whole, static_cast<uint32_t>(time));
    const int cpu = ::sched_getcpu();
    std::memcpy(place + size, &cpu, sizeof cpu);
  } else {
    pitrace_ring_lose(ring, PITRACE_LOST_FULL);
    result = PU_ERROR_BUFFER_FULL;
  }
  if (pitrace_ring_leave(ring)) wake_recorder();
  return result;
}

int store_in_module(const HookRecord& record, uint32_t size) {
  const SystemCalls around;
  void* place = __builtin_alloca(size);
  record.encode(place, size, 0);
  if (::ioctl(own.attachment.fd.fd, PITRACE_IOC_HOOK, place) == 0) return PU_SUCCESS;
  switch (errno) {
    case ENOBUFS:
      return PU_ERROR_BUFFER_FULL;
    case ENOMEM:
      return PU_ERROR_NOT_ENOUGH_MEMORY;
    default:
      // The trace has just ended, or the program has closed the descriptor.
      own.broken.store(1, std::memory_order_relaxed);
      return PU_ERROR_NO_BUFFER;
  }
}

// Whether the attachment still leads to a trace.
bool is_of_use(const pitrace_hook_page& page) {
  const HookAreaHead* area = own.attachment.area;
  return is_alive(page) && !own.broken.load(std::memory_order_relaxed) &&
         !(area && pitrace_read(area->closed));
}

int store(HookThread* thread, const pitrace_hook_page& page, const HookRecord& record) {
  if (!pitrace_read(page.enabled[record.major])) return PU_SUCCESS;
  uint32_t size;
  if (const int rc = record.measure(size); rc != PU_SUCCESS) return rc;
  return own.attachment.area ? store_in_ring(thread, record, size) : store_in_module(record, size);
}

}  // namespace

bool user_hook_is_unwanted(uint32_t major) {
  if (!pitrace_hook_major_allowed(major)) return false;
  HookThread* const thread = this_thread();
  const pitrace_hook_page* page = enter(thread);
  const bool unwanted = page && is_of_use(*page) && !pitrace_read(page->enabled[major]);
  leave(thread);
  return unwanted;
}

int write_user_hook(const HookRecord& record) {
  if (!pitrace_hook_allowed(record.major, record.minor)) return PU_ERROR_INVALID_PARAMETER;
  int rc = PU_ERROR_NO_BUFFER;
  // A second time when the first found no trace and renew() has attached to one.
  for (int round = 0; round < 2; ++round) {
    HookThread* const thread = this_thread();
    const pitrace_hook_page* page = enter(thread);
    const uint32_t seen = page ? own.generation.load(std::memory_order_relaxed) : 0;
    const bool stored = page && is_of_use(*page);
    if (stored) rc = store(thread, *page, record);
    leave(thread);
    if (stored || !renew(seen)) break;
  }
  return rc;
}

uint32_t user_hook_interval() {
  for (int round = 0; round < 2; ++round) {
    HookThread* const thread = this_thread();
    const pitrace_hook_page* page = enter(thread);
    const uint32_t seen = page ? own.generation.load(std::memory_order_relaxed) : 0;
    const bool open = page && is_of_use(*page);
    const uint32_t interval = open ? pitrace_read(page->interval_id) : 0;
    leave(thread);
    if (open) return interval;
    if (!renew(seen)) break;
  }
  return 0;
}

}  // namespace pi::perfutil
