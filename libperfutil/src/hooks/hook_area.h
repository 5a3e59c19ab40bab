// SPDX-License-Identifier: MIT
// The recorder's look at what one process has written into its rings of user hooks. Every byte
// there is hostile: it is copied before it is looked at, and a ring that makes no sense is left
// alone.
#ifndef PI_PERFUTIL_HOOK_AREA_H
#define PI_PERFUTIL_HOOK_AREA_H

#include <cstdint>
#include <span>
#include <vector>

#include <pi/unique_fd.h>

#include "hook_protocol.h"

namespace pi::perfutil {

// One hook that was found; its record is whole and one that a program may write.
struct FoundHook {
  uint64_t ring = 0;  // in which: hooks of one ring are those of one thread at a time, in order
  uint64_t time = 0;
  uint32_t cpu = 0;
  uint32_t length = 0;
  size_t place = 0;  // in HookBatch::bytes
};

// What several areas held, oldest first within a ring.
struct HookBatch {
  std::vector<std::byte> bytes;
  std::vector<FoundHook> hooks;
  uint64_t lost = 0;     // hooks that found no room or were never finished
  uint32_t damaged = 0;  // rings given up
  std::vector<uint64_t>
      gone;  // areas of processes that have gone; nothing more comes of their rings

  std::span<const std::byte> record(const FoundHook& hook) const {
    return std::span(bytes).subspan(hook.place, hook.length);
  }
};

class HookArea {
 public:
  // memory: hook_area_bytes(ring_bytes), shared with the process pid. id: another one for each
  // area.
  HookArea(UniqueMapping memory, uint32_t ring_bytes, uint64_t id, uint32_t pid)
      : memory_(std::move(memory)), ring_bytes_(ring_bytes), id_(id), pid_(pid) {}

  // What was written or lost before is of no interest; hooks older than start are none.
  void begin(uint64_t start);
  // Takes what is there. cpus: their numbers are below this.
  void collect(uint32_t cpus, HookBatch& batch);
  // Nobody is in the middle of a hook.
  bool is_quiet();
  // After the last collect(): hooks that were begun since and are not finished, or came too late,
  // are lost.
  void end(HookBatch& batch);
  // Tells the process that nobody looks any more.
  void close();
  uint64_t id() const { return id_; }

 private:
  struct Ring {
    uint64_t position = 0;  // read up to here
    uint64_t time = 0;      // of the newest record
    uint64_t lost = 0;      // as the ring counts, when it was last looked at
    uint64_t produced = 0;  // as the ring counted at begin(), and what was taken or lost since
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
  std::vector<std::byte> copy_;  // of what one ring holds
};

}  // namespace pi::perfutil

#endif  // PI_PERFUTIL_HOOK_AREA_H
