// SPDX-License-Identifier: MIT
// Trace buffers in this process's memory, with the module's ring format, filled by one thread at a
// time.
#include "user_buffer.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstddef>
#include <cstring>

#include "perfutil.h"

namespace pi::perfutil {

namespace {

// The longest records end with a stack, or are one.
constexpr uint32_t max_record(uint32_t kind) {
  return kind == PITRACE_BUFFER_MTE ? PITRACE_MAX_RECORD : PITRACE_LENGTH_MASK;
}

static_assert(PITRACE_TPROF_SIZE +
                  4 * (1 + PITRACE_STACK_LONG_INTS +
                       2 * (PITRACE_STACK_DEPTH_MAX + PITRACE_STACK_USER_DEPTH_MAX)) <=
              PITRACE_LENGTH_MASK);

}  // namespace

Result<UserBuffer> UserBuffer::create(uint64_t bytes, uint32_t cpu, uint32_t kind,
                                      RecordingState* state) {
  constexpr uint64_t page = PITRACE_HEAD_BYTES;
  auto memory = map_own_ring((bytes + page - 1) / page * page);
  if (!memory) return memory.error();
  UserBuffer buffer(std::move(*memory), state);
  auto* head = reinterpret_cast<pitrace_buffer_head*>(buffer.memory_.data());
  head->data_size = (bytes + page - 1) / page * page;
  head->cpu = cpu;
  head->kind = kind;
  buffer.ring_.head = head;
  buffer.ring_.data = reinterpret_cast<__u8*>(buffer.memory_.data() + PITRACE_HEAD_BYTES);
  buffer.ring_.size = head->data_size;
  buffer.reset();
  return buffer;
}

bool UserBuffer::streams() const {
  return state_->mode == PITRACE_MODE_CONTINUOUS ||
         (state_->mode == PITRACE_MODE_WRAP && ring_.head->kind == PITRACE_BUFFER_MTE);
}

void UserBuffer::reset() {
  pitrace_ring_reset(&ring_, streams() ? state_->section_bytes : 0,
                     state_->mode == PITRACE_MODE_WRAP && !streams());
}

// A fault for each page costs more than one call for many. Without memory there are faults.
void UserBuffer::populate() {
  constexpr uint64_t chunk = 128 << 10;
  if (populated_ >= ring_.size || ring_.head->reserved + chunk / 2 < populated_) return;
  const uint64_t bytes = std::min<uint64_t>(chunk, ring_.size - populated_);
  (void)::madvise(ring_.data + populated_, bytes, MADV_POPULATE_WRITE);
  populated_ += bytes;
}

template <class Encode>
void UserBuffer::put(uint64_t& time, uint32_t size, const Encode& encode) {
  if (state_->suspended && ring_.head->kind == PITRACE_BUFFER_TRACE) return;
  populate();
  pitrace_ring_enter(&ring_);
  std::byte* place = nullptr;
  if (state_->full) {
    pitrace_ring_lose(&ring_, PITRACE_LOST_STOPPED);
  } else if (size > max_record(ring_.head->kind)) {
    pitrace_ring_lose(&ring_, PITRACE_LOST_TOO_LONG);
  } else {
    __u64 stored = time;
    place = static_cast<std::byte*>(pitrace_ring_reserve_timed(&ring_, size, &stored, true));
    if (place) {
      encode(place, static_cast<uint32_t>(stored));
      time = stored;
    } else {
      pitrace_ring_lose(&ring_, PITRACE_LOST_FULL);
      state_->full = state_->mode == PITRACE_MODE_NORMAL;
    }
  }
  state_->section_ready |= pitrace_ring_leave(&ring_);
}

void UserBuffer::put_tprof(uint64_t time, bool user, uint32_t pid, uint32_t tid, uint64_t address,
                           const Stack& stack) {
  const uint32_t extra = stack.ints();
  put(time, PITRACE_TPROF_SIZE + 4 * extra, [&](std::byte* place, uint32_t time_lo) {
    stack.put(pitrace_encode_tprof(place, time_lo, user, pid, tid, address, extra));
  });
}

void UserBuffer::put_dispatch(uint64_t time, uint32_t pid, uint32_t tid, uint32_t state,
                              const Stack& stack) {
  const uint32_t extra = stack.ints();
  put(time, PITRACE_DISPATCH_SIZE + 4 * extra, [&](std::byte* place, uint32_t time_lo) {
    stack.put(pitrace_encode_dispatch(place, time_lo, pid, tid, state, extra));
  });
}

void UserBuffer::put_ints(uint64_t time, uint32_t major, uint32_t minor,
                          std::initializer_list<uint32_t> ints) {
  const auto count = static_cast<uint32_t>(ints.size());
  // An empty list may have no address, but the encoder needs a valid one even to copy nothing.
  const uint32_t none = 0;
  put(time, pitrace_size_ints(count), [&](std::byte* place, uint32_t time_lo) {
    pitrace_encode_ints(place, time_lo, major, minor, count != 0 ? ints.begin() : &none, count);
  });
}

void UserBuffer::put_name(uint64_t time, uint32_t minor, std::initializer_list<uint32_t> ints,
                          std::string_view name) {
  const auto count = static_cast<uint32_t>(ints.size());
  const auto length = static_cast<uint32_t>(name.size());
  put(time, pitrace_size_string(count, length), [&](std::byte* place, uint32_t time_lo) {
    pitrace_encode_string(place, time_lo, PITRACE_MAJOR_MTE, minor, ints.begin(), count,
                          name.data(), length);
  });
}

void UserBuffer::put_record(uint64_t& time, std::span<const std::byte> record) {
  put(time, static_cast<uint32_t>(record.size()), [&](std::byte* place, uint32_t time_lo) {
    std::memcpy(place, record.data(), record.size());
    std::memcpy(place + offsetof(pitrace_record, time_lo), &time_lo, sizeof time_lo);
  });
}

void UserBuffer::put_user_frames(uint64_t time, uint32_t id, uint32_t flags,
                                 std::span<const uint64_t> frames, uint32_t by_table) {
  const std::vector<__u64> longs(frames.begin(), frames.end());
  const auto count = static_cast<uint32_t>(longs.size());
  put(time, pitrace_size_stack(count), [&](std::byte* place, uint32_t time_lo) {
    pitrace_encode_stack(place, time_lo, id, flags, longs.data(), count, by_table);
  });
}

void UserBuffer::put_module(uint64_t time, const pitrace_module& module, std::string_view name) {
  // Readers accept strings up to PITRACE_MAX_STRING; a longer path counts as a record too long.
  const bool too_long = name.size() > PITRACE_MAX_STRING;
  const auto length = static_cast<uint32_t>(name.size());
  put(time, too_long ? PITRACE_LENGTH_MASK + 1 : pitrace_size_module(length),
      [&](std::byte* place, uint32_t time_lo) {
        pitrace_encode_module(place, time_lo, &module, name.data(), length);
      });
}

void UserBuffer::count_lost(uint32_t reason, uint64_t records) {
  ring_.head->produced += records;
  ring_.head->lost[reason] += records;
  ring_.lost += records;
}

void UserBuffer::consume(uint64_t position) {
  (void)pitrace_ring_consume(ring_.head, position, state_->section_bytes);
}

Status BufferSet::add_cpu(uint32_t cpu) {
  auto& buffers = cpus_[cpu];
  while (buffers.size() < PITRACE_BUFFERS) {
    const auto kind = static_cast<uint32_t>(buffers.size());
    auto buffer = UserBuffer::create(bytes_[kind], cpu, kind, state_.get());
    if (!buffer) {
      cpus_.erase(cpu);
      return buffer.error();
    }
    buffers.push_back(std::move(*buffer));
  }
  return {};
}

std::vector<uint32_t> BufferSet::cpus() const {
  std::vector<uint32_t> list;
  for (const auto& entry : cpus_) list.push_back(entry.first);
  return list;
}

void BufferSet::reset(uint32_t kind) {
  for (auto& [cpu, buffers] : cpus_) buffers[kind].reset();
  state_->full = false;
}

std::vector<BufferView> BufferSet::unread() const {
  std::vector<BufferView> views;
  for (const auto& [cpu, buffers] : cpus_)
    for (uint32_t kind = 0; kind < PITRACE_BUFFERS; ++kind)
      if (state_->mode != PITRACE_MODE_WRAP || kind == PITRACE_BUFFER_MTE)
        views.push_back(buffers[kind].unread());
  return views;
}

}  // namespace pi::perfutil
