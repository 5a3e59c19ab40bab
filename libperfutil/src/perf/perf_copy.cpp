// SPDX-License-Identifier: MIT
// The copy of registers and stack in a perf sample, and the frames that replace it.
#include "perf_copy.h"

#include <linux/perf_event.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <optional>
#include <utility>

#include "events/user_registers_x86.h"

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

void append(std::vector<std::byte>& bytes, std::span<const std::byte> more) {
  bytes.insert(bytes.end(), more.begin(), more.end());
}

template <class T>
void append(std::vector<std::byte>& bytes, const T& value) {
  append(bytes, std::as_bytes(std::span(&value, 1)));
}

// The registers and stack bytes behind the call chain. False: the record is damaged. There is no
// copy of a thread without user registers, or of a 32-bit program.
bool read_copy(Reader& in, HeldStack& held) {
  const auto abi = in.number();
  if (!abi) return false;
  held.has_copy = *abi == PERF_SAMPLE_REGS_ABI_64;
  std::array<uint64_t, PI_STACK_REGISTERS> values{};
  if (*abi != PERF_SAMPLE_REGS_ABI_NONE)
    for (uint64_t& value : values) {
      const auto number = in.number();
      if (!number) return false;
      value = *number;
    }
  for (size_t i = 0; i < perf_registers.size(); ++i) {
    const uint64_t below = user_register_mask & ((uint64_t{1} << perf_registers[i]) - 1);
    held.copy.registers[i] = values[static_cast<size_t>(std::popcount(below))];
  }
  const auto size = in.number();
  const auto bytes = size ? in.take(*size) : std::nullopt;
  const auto used = bytes && *size != 0 ? in.number() : std::optional<uint64_t>(0);
  if (!bytes || !used) return false;
  const auto stack = bytes->first(std::min<uint64_t>(*used, *size));
  held.stack.assign(stack.begin(), stack.end());
  return true;
}

// Divides the record into the copy and the rest. False: the record is damaged.
bool take_copy(HeldStack& held, std::span<const std::byte> record, size_t chain) {
  Reader in(record, chain);
  const auto entries = in.number();
  if (!entries || *entries > record.size() / word || !in.take(*entries * word)) return false;
  const size_t end = in.at();
  if (!read_copy(in, held)) return false;
  held.record.reserve(end + sizeof(UnwoundTail));
  held.record.assign(record.begin(), record.begin() + static_cast<ptrdiff_t>(end));
  append(held.record, UnwoundTail{});
  held.copy.pid = value_at<uint32_t>(record, pid_offset);
  held.copy.tid = value_at<uint32_t>(record, pid_offset + 4);
  return true;
}

}  // namespace

HeldStack held_record(uint64_t time, std::span<const std::byte> record, size_t chain,
                      std::vector<std::byte> buffer) {
  HeldStack held;
  held.stack = std::move(buffer);
  held.time = time;
  if (chain != 0 && take_copy(held, record, chain)) return held;
  // One that is too short for its kind is counted as lost.
  const size_t size = chain == 0 ? record.size() : sizeof(perf_event_header);
  held.record.assign(record.begin(), record.begin() + static_cast<ptrdiff_t>(size));
  held.has_copy = false;
  held.stack.clear();
  return held;
}

void replace_frames(HeldStack& held, size_t chain, const ResolvedStack& resolved) {
  const std::vector<std::byte> old = std::move(held.record);
  std::vector<std::byte>& record = held.record;
  record.reserve(old.size() + (2 + resolved.frames.size()) * word);
  record.assign(old.begin(), old.begin() + static_cast<ptrdiff_t>(chain + word));
  const auto entries = value_at<uint64_t>(old, chain);
  uint64_t count = 0;
  bool of_kernel = false;
  for (uint64_t i = 1; i <= entries; ++i) {
    const auto entry = value_at<uint64_t>(old, chain + i * word);
    if (entry >= static_cast<uint64_t>(PERF_CONTEXT_MAX))
      of_kernel = entry == static_cast<uint64_t>(PERF_CONTEXT_KERNEL);
    if (!of_kernel) continue;
    append(record, entry);
    ++count;
  }
  append(record, static_cast<uint64_t>(PERF_CONTEXT_USER));
  append(record, held.copy.registers[PI_STACK_REGISTERS - 1]);
  append(record, std::as_bytes(std::span(resolved.frames)));
  count += 2 + resolved.frames.size();
  std::memcpy(record.data() + chain, &count, sizeof count);
  append(record, UnwoundTail{1, resolved.flags, resolved.by_table});
}

}  // namespace pi::perfutil
