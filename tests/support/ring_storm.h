// SPDX-License-Identifier: MIT
// Writers, each a thread with a ring of its own, interrupted by signals that write as well, and a
// reader that checks every byte meanwhile. Shared by the tests and bench/ring.
#ifndef TESTS_SUPPORT_RING_STORM_H
#define TESTS_SUPPORT_RING_STORM_H

#include <cstdint>
#include <string>

namespace test_support {

struct StormPlan {
  unsigned writers = 4;
  uint64_t records = 1'000'000;  // to be attempted, by all writers together; a few more may be
  uint64_t ring_bytes = 64 << 10;
  uint32_t calm = 128;  // one in so many chances to be interrupted is taken; four chances a record
};

struct StormResult {
  uint64_t attempted = 0;      // by the writers' own count
  uint64_t read = 0;           // in a snapshot storm: in all snapshots together
  uint64_t lost = 0;           // attempted numbers that the reader did not see
  uint64_t lost_reported = 0;  // what the last LOST records of the streams say
  uint64_t counted_lost = 0;   // what the rings' heads say, for every reason
  uint64_t counted_produced = 0;
  uint64_t nested = 0;        // attempts inside another writer
  uint64_t nested_twice = 0;  // of these, inside a nested one
  uint64_t laps = 0;          // times that all of the rings were filled
  uint64_t time_records = 0;  // changes of the high half of the time that were read
  uint64_t snapshots = 0;
  uint64_t problems = 0;
  std::string first_problem;
  double seconds = 0;
};

// Continuous mode: the reader consumes; what finds no room is lost and has to be reported.
StormResult continuous_storm(const StormPlan& plan);

// Wrap-around mode: the reader takes snapshots as long as it is written.
StormResult snapshot_storm(const StormPlan& plan);

}  // namespace test_support

#endif  // TESTS_SUPPORT_RING_STORM_H
