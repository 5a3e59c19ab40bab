// SPDX-License-Identifier: MIT
// What became of every record that the writers of a random schedule made, by sequence number: what
// the checker compares a trace file with. Lies in memory that the writers' processes share.
#ifndef PI_TESTS_WRITER_LOG_H
#define PI_TESTS_WRITER_LOG_H

#include <atomic>
#include <cstdint>

namespace schedule {

constexpr uint32_t hook_major = 0x40;  // its records: ints CPU, writer, sequence number
constexpr uint64_t log_capacity = 24u << 20;

// Whether records were being taken when one was made. unsure: that changed meanwhile.
enum Recording : uint8_t { not_recorded = 0, recorded = 1, unsure = 2 };

// One byte a record, with the sequence number as index.
struct WriterLog {
  static constexpr uint8_t refused = 4;  // TraceHook() said that it was lost

  std::atomic<uint64_t> count;  // entries that are complete
  uint8_t entries[log_capacity];

  Recording recording(uint64_t number) const { return static_cast<Recording>(entries[number] & 3); }
  bool was_refused(uint64_t number) const { return (entries[number] & refused) != 0; }
};

}  // namespace schedule

#endif  // PI_TESTS_WRITER_LOG_H
