// SPDX-License-Identifier: MIT
// One CPU's buffer as it is mapped, from the module or our own: a head page, the data, and the data
// a second time.
#include "ring_memory.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>

#include <pi/decode.h>
#include <pitrace/encode.h>

#include "system/limits.h"

namespace pi::perfutil {
namespace {

template <class T>
T load(const T& word) {
  return __atomic_load_n(&word, __ATOMIC_RELAXED);
}

template <class T>
T load_acquire(const T& word) {
  return __atomic_load_n(&word, __ATOMIC_ACQUIRE);
}

Counts counts_of(const pitrace_buffer_head& head) {
  Counts counts;
  counts.produced = load(head.produced);
  counts.written = load(head.written);
  for (size_t reason = 0; reason < PITRACE_LOST_REASONS; ++reason)
    counts.lost[reason] = load(head.lost[reason]);
  return counts;
}

uint64_t total(const Counts& counts) {
  uint64_t sum = counts.written;
  for (const uint64_t lost : counts.lost) sum += lost;
  return sum;
}

using Marks = std::array<pitrace_mark, PITRACE_MARKS>;

Marks marks_of(const pitrace_buffer_head& head) {
  Marks marks{};
  for (size_t i = 0; i < marks.size(); ++i)
    marks[i] = {load(head.marks[i].position), load(head.marks[i].time)};
  return marks;
}

struct Moment {
  Counts counts;
  uint64_t committed;
};

// Counts and a position that are consistent: two reads are equal and no write is in progress. Does
// not wait for a writer that is interrupted for long; then the counts are off by its records.
Moment read_moment(const pitrace_buffer_head& head) {
  constexpr int attempts = 1000;
  Moment now{};
  for (int attempt = 0; attempt < attempts; ++attempt) {
    now = {counts_of(head), load_acquire(head.committed)};
    if (now.counts.produced != total(now.counts)) continue;
    if (load_acquire(head.reserved) == now.committed &&
        load_acquire(head.produced) == now.counts.produced)
      return now;
  }
  now.counts.produced = total(now.counts);
  return now;
}

// Position of the oldest whole record, given that no record below floor is whole, and the time of
// the record before it.
pitrace_mark oldest_record(const Marks& marks, uint32_t shift, uint64_t floor,
                           const pitrace_mark& newest) {
  if (floor == 0) return {};
  for (uint64_t block = ((floor - 1) >> shift) + 1; block <= newest.position >> shift; ++block) {
    const pitrace_mark& mark = marks[block % PITRACE_MARKS];
    // A mark of an earlier round is outside of this range.
    if (mark.position >= floor && mark.position <= newest.position) return mark;
  }
  return newest;
}

// Copies memory that writers may be overwriting. Word by word, since records begin and end at
// words; the caller finds the records that may be torn and drops them. This is an intended race,
// which the thread sanitizer must ignore.
__attribute__((no_sanitize("thread"))) void copy_while_written(std::byte* to, const std::byte* from,
                                                               size_t bytes) {
  for (size_t at = 0; at < bytes; at += sizeof(uint32_t)) {
    const uint32_t word =
        __atomic_load_n(reinterpret_cast<const uint32_t*>(from + at), __ATOMIC_RELAXED);
    __builtin_memcpy(to + at, &word, sizeof word);
  }
}

uint64_t count_records(std::span<const std::byte> records) {
  uint64_t count = 0;
  while (!records.empty()) {
    const RecordView record(records);
    if (!record.valid()) break;
    count += is_counted(record);
    records = records.subspan(record.length());
  }
  return count;
}

}  // namespace

Result<UniqueMapping> map_own_ring(uint64_t data_bytes) {
  const UniqueFd memory(::memfd_create("pitrace buffer", MFD_CLOEXEC));
  const size_t whole = PITRACE_HEAD_BYTES + data_bytes;
  if (!memory || ::ftruncate(memory.get(), static_cast<off_t>(whole)) != 0)
    return no_buffer_memory(data_bytes, errno);
  const size_t mapped = ring_mapping_bytes(data_bytes);
  UniqueMapping mapping(::mmap(nullptr, mapped, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0),
                        mapped);
  if (!mapping) return no_buffer_memory(data_bytes, errno);
  constexpr int readable = PROT_READ | PROT_WRITE, fixed = MAP_SHARED | MAP_FIXED;
  if (::mmap(mapping.data(), whole, readable, fixed, memory.get(), 0) == MAP_FAILED ||
      ::mmap(mapping.data() + whole, data_bytes, readable, fixed, memory.get(),
             PITRACE_HEAD_BYTES) == MAP_FAILED)
    return no_buffer_memory(data_bytes, errno);
  // The memory is shared: a child would write into the parent's trace.
  ::madvise(mapping.data(), mapped, MADV_DONTFORK);
  return mapping;
}

std::span<const std::byte> RingMemory::at(uint64_t position, uint64_t bytes) const {
  const uint64_t size = (mapping_->size() - PITRACE_HEAD_BYTES) / 2;
  return mapping_->bytes().subspan(PITRACE_HEAD_BYTES + position % size, bytes);
}

BufferView RingMemory::unread() const {
  const Moment now = read_moment(head());
  const uint64_t consumed = load(head().consumed);
  const uint64_t size = (mapping_->size() - PITRACE_HEAD_BYTES) / 2;
  BufferView view;
  view.cpu = head().cpu;
  view.kind = head().kind;
  view.records = at(consumed, std::min(now.committed - consumed, size));
  view.counts = now.counts;
  view.position = consumed;
  view.last_time = load(head().last_time);
  return view;
}

BufferCopy RingMemory::copy() const {
  const uint64_t size = (mapping_->size() - PITRACE_HEAD_BYTES) / 2;
  const Moment now = read_moment(head());
  const uint64_t begin = now.committed > size ? now.committed - size : 0;
  const auto all = at(begin, now.committed - begin);
  std::vector<std::byte> bytes(all.size());
  copy_while_written(bytes.data(), all.data(), bytes.size());
  const Marks marks = marks_of(head());
  const pitrace_mark newest{now.committed, load(head().last_time)};
  // A writer reserves space before it overwrites it: read reserved after the copy.
  __atomic_thread_fence(__ATOMIC_ACQUIRE);
  const uint64_t reserved = load_acquire(head().reserved);
  const uint64_t floor = reserved > size ? reserved - size : 0;
  const pitrace_mark first =
      oldest_record(marks, load(head().mark_shift), std::max(begin, floor), newest);

  BufferCopy copy;
  copy.cpu = head().cpu;
  copy.kind = head().kind;
  copy.last_time = newest.time;
  copy.counts = now.counts;
  if (first.position != 0) {
    copy.records.resize(PITRACE_TIME_SIZE);
    pitrace_encode_fake_time(copy.records.data(), first.time);
  }
  const auto kept = std::span(bytes).subspan(first.position - begin);
  copy.records.insert(copy.records.end(), kept.begin(), kept.end());
  copy.kept = count_records(kept);
  return copy;
}

}  // namespace pi::perfutil
