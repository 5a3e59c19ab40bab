// SPDX-License-Identifier: MIT
// The protocol between a recorder with perf as its source and the processes that write user hooks.
//
// A process connects to the recorder's socket, receives one HookHello with two descriptors, and
// keeps the connection until it ends, so that the recorder notices its end, whatever the cause.
// A packet from the process means "read my rings"; its content is ignored.
//
// The first descriptor is a page, read-only for the process: HookControl. The second is the
// process's own area: a HookAreaHead, then max_hook_rings rings of one thread each, as
// pitrace/ring.h writes them. Pages that are never touched use no memory. A record in a ring is as
// pitrace_encode_hook() makes it, followed by one word, which its length includes: the CPU on which
// it was made. The recorder trusts no byte of the area.
#ifndef PI_PERFUTIL_HOOK_PROTOCOL_H
#define PI_PERFUTIL_HOOK_PROTOCOL_H

#include <pthread.h>

#include <cstddef>
#include <cstdint>

#include <pitrace/ring.h>

namespace pi::perfutil {

constexpr uint32_t hook_protocol_version = 1;
constexpr uint32_t max_hook_rings = 512;  // threads of one process that can write at a time
constexpr uint32_t min_hook_ring_bytes = 64 << 10;
constexpr uint32_t max_hook_ring_bytes = 1 << 20;
constexpr uint32_t hook_cpu_bytes = 4;  // after each record

struct HookHello {
  uint32_t version = hook_protocol_version;
  uint32_t ring_bytes = 0;  // a power of two
};

// The recorder holds the lock while it runs. The kernel releases it when the recorder is killed, so
// that the lock's word, page.owner, shows at any time whether there is a recorder.
union HookControl {
  pitrace_hook_page page;
  pthread_mutex_t held;
};
static_assert(offsetof(pitrace_hook_page, owner) == 0 &&
              offsetof(pthread_mutex_t, __data.__lock) == 0 &&
              sizeof(pthread_mutex_t) <= offsetof(pitrace_hook_page, enabled));

// Both sides use it with atomic operations.
struct HookAreaHead {
  uint32_t closed;  // written by the recorder: 1 when it does not read the area any more
  uint32_t used;    // written by the process: rings below this index may hold records
  uint64_t lost;    // written by the process: hooks for which there was no ring
};

constexpr size_t hook_area_head_bytes = 4096;

constexpr size_t hook_ring_place(uint32_t index, uint32_t ring_bytes) {
  return hook_area_head_bytes + size_t{index} * (PITRACE_HEAD_BYTES + ring_bytes);
}

constexpr size_t hook_area_bytes(uint32_t ring_bytes) {
  return hook_ring_place(max_hook_rings, ring_bytes);
}

constexpr bool hook_ring_bytes_good(uint32_t bytes) {
  return bytes >= min_hook_ring_bytes && bytes <= max_hook_ring_bytes && (bytes & (bytes - 1)) == 0;
}

}  // namespace pi::perfutil

#endif  // PI_PERFUTIL_HOOK_PROTOCOL_H
