// SPDX-License-Identifier: MIT
// The recorder's reader of the rings into which one process writes its user hooks. No byte in them
// is trusted: records are copied before they are checked, and a ring whose contents are not valid
// is not read again.
#ifndef PI_PERFUTIL_HOOK_AREA_H
#define PI_PERFUTIL_HOOK_AREA_H

#include <cstdint>
#include <span>
#include <vector>

#include <pi/unique_fd.h>

#include "hook_protocol.h"

namespace pi::perfutil {

// One hook that was found; its record is complete and of a kind that a program may write.
struct FoundHook {
  uint64_t ring = 0;  // number of the ring; one thread at a time writes to a ring, in time order
  uint64_t time = 0;
  uint32_t cpu = 0;
  uint32_t length = 0;
  size_t place = 0;  // offset in HookBatch::bytes
};

// Hooks from several areas; those of one ring are in time order.
struct HookBatch {
  std::vector<std::byte> bytes;
  std::vector<FoundHook> hooks;
  uint64_t lost = 0;           // hooks for which there was no space, or that were not finished
  uint32_t damaged = 0;        // rings with invalid contents
  std::vector<uint64_t> gone;  // areas of processes that have ended: their rings get no more hooks

  std::span<const std::byte> record(const FoundHook& hook) const {
    return std::span(bytes).subspan(hook.place, hook.length);
  }
};

class HookArea {
 public:
  // memory: hook_area_bytes(ring_bytes) bytes, shared with the process pid. id: unique.
  HookArea(UniqueMapping memory, uint32_t ring_bytes, uint64_t id, uint32_t pid)
      : memory_(std::move(memory)), ring_bytes_(ring_bytes), id_(id), pid_(pid) {}

  // Drops what was written or lost so far; hooks older than start are ignored.
  void begin(uint64_t start);
  // Moves new hooks to the batch. cpus: upper limit of CPU numbers.
  void collect(uint32_t cpus, HookBatch& batch);
  // Whether no thread of the process is writing a hook.
  bool is_quiet();
  // After the last collect(): counts as lost the hooks that were begun since, finished or not.
  void end(HookBatch& batch);
  // Sets closed in the area's head: the recorder does not read it any more.
  void close();
  uint64_t id() const { return id_; }

 private:
  struct Ring {
    uint64_t position = 0;  // of the first byte not read yet
    uint64_t time = 0;      // of the newest record
    uint64_t lost = 0;      // the ring's own count when it was last read
    uint64_t produced = 0;  // the ring's own count at begin(), plus hooks taken or lost since
    bool damaged = false;
  };

  HookAreaHead* head() { return reinterpret_cast<HookAreaHead*>(memory_.data()); }
  pitrace_buffer_head* ring_head(size_t index);
  void follow_used();
  bool copy_new(size_t index, Ring& ring);
  bool take_all(size_t index, Ring& ring, uint64_t now, uint32_t cpus, HookBatch& batch);
  bool take(size_t index, Ring& ring, std::span<std::byte> entry, uint64_t now, uint32_t cpus,
            HookBatch& batch);
  void count_lost(pitrace_buffer_head* head, Ring& ring, HookBatch& batch);
  static void give_up(Ring& ring, HookBatch& batch);

  UniqueMapping memory_;
  uint32_t ring_bytes_;
  uint64_t id_;
  uint32_t pid_;
  uint64_t start_ = 0;
  uint64_t lost_without_ring_ = 0;
  std::vector<Ring> rings_;
  std::vector<std::byte> copy_;  // of the new bytes of one ring
};

}  // namespace pi::perfutil

#endif  // PI_PERFUTIL_HOOK_AREA_H
