// SPDX-License-Identifier: MIT
// Reads a perf counter of the calling thread from the page that the kernel maps for it.
#ifndef PI_PERFUTIL_PTT_PAGE_H
#define PI_PERFUTIL_PTT_PAGE_H

#include <linux/perf_event.h>

#include <atomic>
#include <cstdint>
#include <optional>

namespace pi::perfutil {

// Counters have fewer than 64 bits: their value is to be added to the kernel's offset as a signed
// number of that width.
inline uint64_t sign_extend(uint64_t counter, uint32_t width) {
  const uint32_t unused = 64 - width;
  return static_cast<uint64_t>(static_cast<int64_t>(counter << unused) >> unused);
}

// read_counter(index): the processor's counter of that index, unsigned. Nothing when the kernel
// does not permit reading, when the event has no counter at this moment, or when it is multiplexed,
// so that its count is incomplete. A compiler barrier suffices, because the kernel changes the page
// on the thread's own CPU.
template <class ReadCounter>
std::optional<uint64_t> read_page(const volatile perf_event_mmap_page& page,
                                  ReadCounter read_counter) {
  for (;;) {
    const uint32_t lock = page.lock;
    std::atomic_signal_fence(std::memory_order_seq_cst);
    const uint32_t index = page.index;
    const uint32_t width = page.pmc_width;
    uint64_t count = static_cast<uint64_t>(page.offset);
    const bool whole = page.time_enabled == page.time_running;
    const bool permitted = page.cap_user_rdpmc && index != 0 && width != 0 && width <= 64;
    if (permitted) count += sign_extend(read_counter(index - 1), width);
    std::atomic_signal_fence(std::memory_order_seq_cst);
    if (page.lock != lock) continue;
    if (!permitted || !whole) return std::nullopt;
    return count;
  }
}

}  // namespace pi::perfutil

#endif  // PI_PERFUTIL_PTT_PAGE_H
