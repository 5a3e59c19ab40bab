// SPDX-License-Identifier: MIT
// The fate of every record that the writers of a random schedule wrote, by sequence number: the
// checker compares a trace file with it. Stored in memory shared by the writers' processes.
#ifndef PI_TESTS_WRITER_LOG_H
#define PI_TESTS_WRITER_LOG_H

#include <atomic>
#include <cstdint>

namespace schedule {

constexpr uint32_t hook_major = 0x40;  // its records have the ints CPU, writer, sequence number
constexpr uint64_t log_capacity = 24u << 20;

// Whether the trace was on when a record was written. unsure: that changed during the call.
enum Recording : uint8_t { not_recorded = 0, recorded = 1, unsure = 2 };

// One byte for each record, indexed by sequence number.
struct WriterLog {
  static constexpr uint8_t refused = 4;  // TraceHook() returned that the record was lost

  std::atomic<uint64_t> count;  // number of complete entries
  uint8_t entries[log_capacity];

  Recording recording(uint64_t number) const { return static_cast<Recording>(entries[number] & 3); }
  bool was_refused(uint64_t number) const { return (entries[number] & refused) != 0; }
};

}  // namespace schedule

#endif  // PI_TESTS_WRITER_LOG_H
