// SPDX-License-Identifier: MIT
// Linear trace buffers in this process's memory, with the accounting of the module's buffers.
#include "user_buffer.h"

#include <sys/mman.h>

#include <algorithm>
#include <cerrno>

#include <fmt/format.h>

#include "perfutil.h"
#include "text.h"

namespace pi::perfutil {

Result<UserBuffer> UserBuffer::create(uint64_t bytes, RecordingState* state) {
  void* memory = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED)
    return Error{PU_ERROR_NOT_ENOUGH_MEMORY,
                 fmt::format("No memory for a trace buffer of {} bytes ({}). Ask for smaller "
                             "buffers.",
                             bytes, errno_text(errno))};
  return UserBuffer(UniqueMapping(memory, bytes), state);
}

bool UserBuffer::count_lost(uint32_t reason) {
  ++counts_.lost[reason];
  return false;
}

std::byte* UserBuffer::reserve(uint64_t& time, uint32_t size) {
  ++counts_.produced;
  if (state_->full) {
    count_lost(PITRACE_LOST_STOPPED);
    return nullptr;
  }
  if (size > PITRACE_MAX_RECORD) {
    count_lost(PITRACE_LOST_TOO_LONG);
    return nullptr;
  }
  time = std::max(time, last_time_);
  const bool new_half = committed_ == 0 || time >> 32 != last_time_ >> 32;
  const uint32_t announcement = new_half ? pitrace_size_ints(1) : 0;
  if (size + announcement > memory_.size() - committed_) {
    count_lost(PITRACE_LOST_FULL);
    state_->full = true;
    return nullptr;
  }
  if (new_half) pitrace_encode_time(memory_.data() + committed_, time);
  std::byte* place = memory_.data() + committed_ + announcement;
  committed_ += announcement + size;
  last_time_ = time;
  ++counts_.written;
  return place;
}

void UserBuffer::put_tprof(uint64_t time, bool user, uint32_t pid, uint32_t tid, uint64_t address) {
  if (std::byte* place = reserve(time, PITRACE_TPROF_SIZE))
    pitrace_encode_tprof(place, static_cast<uint32_t>(time), user, pid, tid, address);
}

void UserBuffer::put_ints(uint64_t time, uint32_t major, uint32_t minor,
                          std::initializer_list<uint32_t> ints) {
  const auto count = static_cast<uint32_t>(ints.size());
  // An empty list has no address, and the encoder copies from one even if it is nothing.
  const uint32_t none = 0;
  if (std::byte* place = reserve(time, pitrace_size_ints(count)))
    pitrace_encode_ints(place, static_cast<uint32_t>(time), major, minor,
                        count != 0 ? ints.begin() : &none, count);
}

void UserBuffer::put_name(uint64_t time, uint32_t minor, std::initializer_list<uint32_t> ints,
                          std::string_view name) {
  const auto count = static_cast<uint32_t>(ints.size());
  const auto length = static_cast<uint32_t>(name.size());
  if (std::byte* place = reserve(time, pitrace_size_string(count, length)))
    pitrace_encode_string(place, static_cast<uint32_t>(time), PITRACE_MAJOR_MTE, minor,
                          ints.begin(), count, name.data(), length);
}

void UserBuffer::put_module(uint64_t time, const pitrace_module& module, std::string_view name) {
  // Readers accept strings up to PITRACE_MAX_STRING; a longer path counts as a record too long.
  const bool too_long = name.size() > PITRACE_MAX_STRING;
  const auto length = static_cast<uint32_t>(name.size());
  if (std::byte* place =
          reserve(time, too_long ? PITRACE_MAX_RECORD + 1 : pitrace_size_module(length)))
    pitrace_encode_module(place, static_cast<uint32_t>(time), &module, name.data(), length);
}

void UserBuffer::count_lost_by_source(uint64_t records) {
  counts_.produced += records;
  counts_.lost[PITRACE_LOST_SOURCE] += records;
}

void UserBuffer::reset() {
  committed_ = 0;
  counts_ = {};
  last_time_ = 0;
}

Status BufferSet::add_cpu(uint32_t cpu) {
  auto& buffers = cpus_[cpu];
  while (buffers.size() < PITRACE_BUFFERS) {
    auto buffer = UserBuffer::create(bytes_[buffers.size()], state_.get());
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

void BufferSet::reset() {
  for (auto& [cpu, buffers] : cpus_)
    for (auto& buffer : buffers) buffer.reset();
  state_->full = false;
}

std::vector<BufferView> BufferSet::views() const {
  std::vector<BufferView> views;
  for (const auto& [cpu, buffers] : cpus_)
    for (uint32_t kind = 0; kind < PITRACE_BUFFERS; ++kind) {
      const UserBuffer& buffer = buffers[kind];
      views.push_back({cpu, kind, buffer.records(), buffer.counts(), buffer.last_time()});
    }
  return views;
}

}  // namespace pi::perfutil
