// SPDX-License-Identifier: MIT
// What a recorder with perf as its source shares with the processes that write user hooks.
//
// A process connects to the recorder's socket, gets one HookHello with two descriptors, and holds
// the connection until it ends: by that the recorder learns of its death, however it came. Packets
// from the process mean "look at my rings"; their content is nothing.
//
// The first descriptor is a page, read-only for the process: HookControl. The second is the
// process's own area: a HookAreaHead, then max_hook_rings rings of one thread each, as
// pitrace/ring.h writes them. Pages of it that nobody touches cost nothing. A record in a ring is
// as pitrace_encode_hook() makes it with one word more behind it, which its length covers: the
// CPU it was made on. The recorder trusts nothing of the area.
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
constexpr uint32_t hook_cpu_bytes = 4;  // behind each record

struct HookHello {
  uint32_t version = hook_protocol_version;
  uint32_t ring_bytes = 0;  // a power of two
};

// The recorder holds the lock from its beginning to its end. The kernel takes it back when the
// recorder is killed, so that the word says at any time whether there is one: page.owner.
union HookControl {
  pitrace_hook_page page;
  pthread_mutex_t held;
};
static_assert(offsetof(pitrace_hook_page, owner) == 0 &&
              offsetof(pthread_mutex_t, __data.__lock) == 0 &&
              sizeof(pthread_mutex_t) <= offsetof(pitrace_hook_page, enabled));

// Both sides use it with atomic operations.
struct HookAreaHead {
  uint32_t closed;  // recorder: 1 when it does not look at the area any more
  uint32_t used;    // process: rings from 0 up to here may hold something
  uint64_t lost;    // process: hooks for which there was no ring
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
