// SPDX-License-Identifier: MIT
// The recorder's reader of the rings into which one process writes its user hooks.
#include "hook_area.h"

#include <algorithm>
#include <cstring>

#include <pi/decode.h>
#include <pitrace/user_hook.h>

#include "system/system_facts.h"

namespace pi::perfutil {
namespace {

constexpr size_t min_record_bytes = sizeof(pitrace_record);

uint64_t lost_of(pitrace_buffer_head* head) {
  uint64_t lost = 0;
  for (auto& reason : head->lost) lost += pitrace_read(reason);
  return lost;
}

// Whether this many records fit into a ring.
bool is_possible(uint64_t records, uint32_t ring_bytes) {
  return records <= ring_bytes / min_record_bytes;
}

}  // namespace

pitrace_buffer_head* HookArea::ring_head(size_t index) {
  return reinterpret_cast<pitrace_buffer_head*>(
      memory_.data() + hook_ring_place(static_cast<uint32_t>(index), ring_bytes_));
}

void HookArea::follow_used() {
  const uint32_t used = std::min(pitrace_load_acquire(&head()->used), max_hook_rings);
  if (used > rings_.size()) rings_.resize(used);
}

void HookArea::begin(uint64_t start) {
  HookBatch unwanted;
  // Reads the records anyway: those of the time hold the high half of the clock.
  start_ = ~0ull;
  collect(~0u, unwanted);
  start_ = start;
  for (size_t i = 0; i < rings_.size(); ++i)
    rings_[i].produced = pitrace_read(ring_head(i)->produced);
}

void HookArea::collect(uint32_t cpus, HookBatch& batch) {
  follow_used();
  for (size_t i = 0; i < rings_.size(); ++i) {
    Ring& ring = rings_[i];
    if (ring.damaged) continue;
    // Read the clock after copying: no copied record is newer.
    if (!copy_new(i, ring) || !take_all(i, ring, trace_clock(), cpus, batch)) {
      give_up(ring, batch);
      continue;
    }
    count_lost(ring_head(i), ring, batch);
  }
  const uint64_t lost = __atomic_load_n(&head()->lost, __ATOMIC_RELAXED);
  if (lost > lost_without_ring_) batch.lost += lost - lost_without_ring_;
  lost_without_ring_ = lost;
}

// The ring is not read again. How many records that loses is unknown; it counts as one.
void HookArea::give_up(Ring& ring, HookBatch& batch) {
  ring.damaged = true;
  ++batch.damaged;
  ++batch.lost;
}

bool HookArea::copy_new(size_t index, Ring& ring) {
  pitrace_buffer_head* const head = ring_head(index);
  const uint64_t committed = pitrace_load_acquire(&head->committed);
  const uint64_t size = committed - ring.position;
  if (size > ring_bytes_) return false;
  copy_.resize(size);
  if (size == 0) return true;
  const std::byte* const data = memory_.data() +
                                hook_ring_place(static_cast<uint32_t>(index), ring_bytes_) +
                                PITRACE_HEAD_BYTES;
  const uint64_t from = ring.position & (ring_bytes_ - 1);
  const uint64_t first = std::min<uint64_t>(size, ring_bytes_ - from);
  std::memcpy(copy_.data(), data + from, first);
  std::memcpy(copy_.data() + first, data, size - first);
  ring.position = committed;
  return pitrace_ring_consume(head, committed, ring_bytes_ / 2);
}

// Records that the ring itself writes between the hooks: time records are applied, others skipped.
bool HookArea::take_all(size_t index, Ring& ring, uint64_t now, uint32_t cpus, HookBatch& batch) {
  for (std::span<std::byte> rest = copy_; !rest.empty();) {
    const RecordView record{rest};
    if (!record.valid()) return false;
    uint32_t high;
    if (decode_time(record, high)) {
      const uint64_t time = uint64_t{high} << 32 | record.time_lo();
      if (time < ring.time || time > now) return false;
      ring.time = time;
    } else if (record.major() != PITRACE_MAJOR_SYSTEM &&
               !take(index, ring, rest.first(record.length()), now, cpus, batch)) {
      return false;
    }
    rest = rest.subspan(record.length());
  }
  return true;
}

// An entry is a record, followed by the number of a CPU.
bool HookArea::take(size_t index, Ring& ring, std::span<std::byte> entry, uint64_t now,
                    uint32_t cpus, HookBatch& batch) {
  pitrace_record header;
  uint32_t cpu;
  if (entry.size() < sizeof header + sizeof cpu) return false;
  const auto length = static_cast<uint32_t>(entry.size() - sizeof cpu);
  std::memcpy(&header, entry.data(), sizeof header);
  std::memcpy(&cpu, entry.data() + length, sizeof cpu);
  header.type_length = static_cast<uint16_t>(length | (header.type_length & PITRACE_TYPE_MASK));
  std::memcpy(entry.data(), &header, sizeof header);
  const uint64_t time = (ring.time & ~0xffffffffull) | header.time_lo;
  if (pitrace_check_hook(entry.data(), length) != 0 || cpu >= cpus || time < ring.time ||
      time > now)
    return false;
  ring.time = time;
  pitrace_hook_sign(entry.data(), pid_);
  // It was begun in an earlier trace, which has counted it as lost.
  if (time < start_) return true;
  ++ring.produced;
  batch.hooks.push_back({id_ * max_hook_rings + index, time, cpu, length, batch.bytes.size()});
  batch.bytes.insert(batch.bytes.end(), entry.begin(), entry.begin() + length);
  return true;
}

void HookArea::count_lost(pitrace_buffer_head* head, Ring& ring, HookBatch& batch) {
  const uint64_t lost = lost_of(head);
  if (lost <= ring.lost) return;
  batch.lost += lost - ring.lost;
  ring.produced += lost - ring.lost;
  ring.lost = lost;
}

bool HookArea::is_quiet() {
  follow_used();
  for (size_t i = 0; i < rings_.size(); ++i) {
    pitrace_buffer_head* const head = ring_head(i);
    if (rings_[i].damaged) continue;
    if (pitrace_read(head->produced) != pitrace_read(head->written) + lost_of(head)) return false;
  }
  return true;
}

void HookArea::end(HookBatch& batch) {
  for (size_t i = 0; i < rings_.size(); ++i) {
    Ring& ring = rings_[i];
    const uint64_t produced = pitrace_read(ring_head(i)->produced);
    if (ring.damaged || produced <= ring.produced) continue;
    if (is_possible(produced - ring.produced, ring_bytes_))
      batch.lost += produced - ring.produced;
    else
      give_up(ring, batch);
  }
}

void HookArea::close() {
  pitrace_write(head()->closed, 1);
}

}  // namespace pi::perfutil
