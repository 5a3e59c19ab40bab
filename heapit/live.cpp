// SPDX-License-Identifier: MIT
// Counts allocations and their ends in a log.
#include "live.h"

#include <atomic>

namespace pi::heapit {

void Live::allocated(Log& log, heap_log::Path& path, const void* block, size_t bytes) {
  uint64_t* const number = path.number;
  add(number[heap_log::allocations], 1);
  add(number[heap_log::bytes], bytes);
  heap_log::Header& header = log.header();
  const auto live = [bytes](uint64_t& sum) {
    return std::atomic_ref(sum).fetch_add(bytes, std::memory_order_relaxed) + bytes;
  };
  raise_to(number[heap_log::peak_bytes], live(number[heap_log::live_bytes]));
  raise_to(header.peak_bytes, live(header.live_bytes));
  const Blocks::Put put = blocks_.put(block, {bytes, &path});
  if (put.replaced) {
    add(header.lost[heap_log::unseen_frees], 1);
    freed(log, *put.replaced);
  }
  if (put.stored) return;
  add(header.lost[heap_log::lost_blocks], 1);
  freed(log, {bytes, &path});
}

void Live::freed(Log& log, const Block& block) {
  if (!block.path) return;  // of the time before the recording
  add(block.path->number[heap_log::frees], 1);
  subtract(block.path->number[heap_log::live_bytes], block.bytes);
  subtract(log.header().live_bytes, block.bytes);
}

}  // namespace pi::heapit
