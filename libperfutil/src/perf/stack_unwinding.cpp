// SPDX-License-Identifier: MIT
// Has the application resolve the user stacks of ticks.
#include "stack_unwinding.h"

#include <linux/perf_event.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <optional>
#include <thread>

#include "events/user_registers_x86.h"
#include "system/system_facts.h"

namespace pi::perfutil {
namespace {

constexpr size_t word = sizeof(uint64_t);
constexpr size_t pid_offset = sizeof(perf_event_header) + 2 * word;  // identifier, address

class Reader {
 public:
  Reader(std::span<const std::byte> bytes, size_t at) : bytes_(bytes), at_(at) {}

  std::optional<uint64_t> number() {
    const auto place = take(word);
    if (!place) return std::nullopt;
    uint64_t value;
    std::memcpy(&value, place->data(), sizeof value);
    return value;
  }
  std::optional<std::span<const std::byte>> take(uint64_t size) {
    if (at_ > bytes_.size() || size > bytes_.size() - at_) return std::nullopt;
    at_ += size;
    return bytes_.subspan(at_ - size, size);
  }
  size_t at() const { return at_; }

 private:
  std::span<const std::byte> bytes_;
  size_t at_;
};

template <class T>
T value_at(std::span<const std::byte> bytes, size_t offset) {
  T value;
  std::memcpy(&value, bytes.data() + offset, sizeof value);
  return value;
}

template <class T>
void append(std::vector<std::byte>& bytes, const T& value) {
  const auto* from = reinterpret_cast<const std::byte*>(&value);
  bytes.insert(bytes.end(), from, from + sizeof value);
}

// The registers and stack bytes behind the call chain. Nothing: the record is damaged.
// is_64: false for a thread without user registers, or of a 32-bit program.
bool read_copy(Reader& in, pi_stack_copy& copy, bool& is_64) {
  const auto abi = in.number();
  if (!abi) return false;
  is_64 = *abi == PERF_SAMPLE_REGS_ABI_64;
  std::array<uint64_t, PI_STACK_REGISTERS> values{};
  if (*abi != PERF_SAMPLE_REGS_ABI_NONE)
    for (uint64_t& value : values) {
      const auto number = in.number();
      if (!number) return false;
      value = *number;
    }
  for (size_t i = 0; i < perf_registers.size(); ++i) {
    const uint64_t below = user_register_mask & ((uint64_t{1} << perf_registers[i]) - 1);
    copy.registers[i] = values[static_cast<size_t>(std::popcount(below))];
  }
  const auto size = in.number();
  const auto bytes = size ? in.take(*size) : std::nullopt;
  const auto used = bytes && *size != 0 ? in.number() : std::optional<uint64_t>(0);
  if (!bytes || !used) return false;
  copy.bytes = bytes->data();
  copy.length = std::min<uint64_t>(*used, *size);
  return true;
}

uint32_t flags_of(const pi_stack_frames& frames) {
  uint32_t flags = PITRACE_STACK_USER_TABLES | frames.by_table << 24;
  if (frames.end == PI_STACK_WHOLE && frames.by_table == frames.frames)
    flags |= PITRACE_STACK_USER_WHOLE;
  if (frames.end == PI_STACK_CUT) flags |= PITRACE_STACK_USER_CUT;
  return flags;
}

}  // namespace

void StackUnwinding::begin() {
  queues_.clear();
  held_bytes_ = 0;
  if (is_active()) copies_.resolver.begin(copies_.resolver.context);
}

void StackUnwinding::change(const pi_process_change& change) {
  if (is_active()) copies_.resolver.change(copies_.resolver.context, &change);
}

std::vector<std::string> StackUnwinding::notes() const {
  std::vector<std::string> notes;
  if (!is_active()) return notes;
  for (unsigned index = 0;; ++index) {
    const char* note = copies_.resolver.note(copies_.resolver.context, index);
    if (note == nullptr) return notes;
    notes.emplace_back(note);
  }
}

void StackUnwinding::hold(uint32_t cpu, uint64_t time, std::span<const std::byte> record,
                          size_t fixed) {
  queues_[cpu].push_back({time, fixed, {record.begin(), record.end()}});
  held_bytes_ += record.size();
}

StackUnwinding::Queue* StackUnwinding::oldest(uint64_t until, uint32_t& cpu) {
  Queue* found = nullptr;
  for (auto& [number, queue] : queues_)
    if (!queue.empty() && queue.front().time <= until &&
        (!found || queue.front().time < found->front().time)) {
      found = &queue;
      cpu = number;
    }
  return found;
}

uint64_t StackUnwinding::advance(uint64_t until, bool finish, const Put& put) {
  const auto age = static_cast<uint64_t>(limits_.age.count());
  const uint64_t waited_from = trace_clock();
  const size_t space = std::max(limits_.bytes, limits_.bytes_a_cpu * queues_.size());
  uint32_t cpu = 0;
  while (Queue* queue = oldest(until, cpu)) {
    const Held& held = queue->front();
    const uint64_t now = trace_clock();
    const bool last = held_bytes_ > space || now > (finish ? waited_from : held.time) + age;
    if (held.fixed == 0) {
      result_.assign(held.record.begin(), held.record.end());
    } else if (!resolve(held, last)) {
      if (!finish) return held.time;
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
      continue;
    }
    put(cpu, held.time, result_);
    held_bytes_ -= held.record.size();
    queue->pop_front();
  }
  return UINT64_MAX;
}

bool StackUnwinding::resolve(const Held& held, bool last) {
  Reader in(held.record, held.fixed);
  const auto entries = in.number();
  const size_t first = in.at();
  pi_stack_copy copy{};
  bool is_64 = false;
  if (!entries || *entries > held.record.size() / word || !in.take(*entries * word) ||
      !read_copy(in, copy, is_64)) {
    // Too short for its kind: it is counted as lost.
    result_.assign(held.record.begin(),
                   held.record.begin() + static_cast<ptrdiff_t>(sizeof(perf_event_header)));
    return true;
  }
  if (!is_64) {
    keep_kernels_frames(held, first + *entries * word);
    return true;
  }
  copy.time = held.time;
  copy.pid = value_at<uint32_t>(held.record, pid_offset);
  copy.tid = value_at<uint32_t>(held.record, pid_offset + 4);
  return call_resolver(held, copy, last);
}

void StackUnwinding::keep_kernels_frames(const Held& held, size_t end) {
  result_.assign(held.record.begin(), held.record.begin() + static_cast<ptrdiff_t>(end));
  append(result_, UnwoundTail{0, 0});
}

// The record without what the kernel has copied, with the application's frames instead of the
// kernel's for the user.
bool StackUnwinding::call_resolver(const Held& held, pi_stack_copy& copy, bool last) {
  std::array<uint64_t, PITRACE_STACK_DEPTH_MAX> addresses;
  pi_stack_frames frames{};
  const auto& resolver = copies_.resolver;
  if (resolver.resolve(resolver.context, &copy, last, addresses.data(),
                       static_cast<uint32_t>(addresses.size()), &frames) == 0 &&
      !last)
    return false;
  frames.frames = std::min<uint32_t>(frames.frames, static_cast<uint32_t>(addresses.size()));
  frames.by_table = std::min(frames.by_table, frames.frames);
  const std::span record(held.record);
  const size_t first = held.fixed + word;
  const auto entries = value_at<uint64_t>(record, held.fixed);
  result_.assign(record.begin(), record.begin() + static_cast<ptrdiff_t>(held.fixed));
  append(result_, entries);
  uint64_t count = 0;
  bool of_kernel = false;
  for (uint64_t i = 0; i < entries; ++i) {
    const auto entry = value_at<uint64_t>(record, first + i * word);
    if (entry >= static_cast<uint64_t>(PERF_CONTEXT_MAX))
      of_kernel = entry == static_cast<uint64_t>(PERF_CONTEXT_KERNEL);
    if (!of_kernel) continue;
    append(result_, entry);
    ++count;
  }
  append(result_, static_cast<uint64_t>(PERF_CONTEXT_USER));
  append(result_, copy.registers[PI_STACK_REGISTERS - 1]);
  for (uint32_t i = 0; i < frames.frames; ++i) append(result_, addresses[i]);
  count += 2 + frames.frames;
  std::memcpy(result_.data() + held.fixed, &count, sizeof count);
  append(result_, UnwoundTail{1, flags_of(frames)});
  return true;
}

}  // namespace pi::perfutil
