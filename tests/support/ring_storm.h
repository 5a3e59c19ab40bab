// SPDX-License-Identifier: MIT
// A load test of the ring: writer threads, each with its own ring and interrupted by signal
// handlers that also write, and a reader that checks every byte concurrently. Shared by the tests
// and bench/ring.
#ifndef TESTS_SUPPORT_RING_STORM_H
#define TESTS_SUPPORT_RING_STORM_H

#include <cstdint>
#include <string>

namespace test_support {

struct StormPlan {
  unsigned writers = 4;
  uint64_t records = 1'000'000;  // attempted by all writers together; a few more are possible
  uint64_t ring_bytes = 64 << 10;
  uint32_t calm = 128;  // a writer is interrupted at one in `calm` of its points, four a record
};

struct StormResult {
  uint64_t attempted = 0;      // the writers' own count
  uint64_t read = 0;           // in a snapshot storm: the sum of all snapshots
  uint64_t lost = 0;           // attempted numbers that the reader did not see
  uint64_t lost_reported = 0;  // the last LOST records of the streams
  uint64_t counted_lost = 0;   // the rings' heads, all reasons
  uint64_t counted_produced = 0;
  uint64_t nested = 0;        // attempts inside another writer
  uint64_t nested_twice = 0;  // of these, inside a nested writer
  uint64_t laps = 0;          // how often all rings were filled
  uint64_t time_records = 0;  // changes of the high half of the time that the reader saw
  uint64_t snapshots = 0;
  uint64_t problems = 0;
  std::string first_problem;
  double seconds = 0;
};

// Continuous mode: the reader consumes; a record without free space is lost and must be reported.
StormResult continuous_storm(const StormPlan& plan);

// Wrap-around mode: the reader takes snapshots while the ring is written.
StormResult snapshot_storm(const StormPlan& plan);

}  // namespace test_support

#endif  // TESTS_SUPPORT_RING_STORM_H
