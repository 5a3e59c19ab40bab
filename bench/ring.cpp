// SPDX-License-Identifier: MIT
// Correctness and speed of the ring with nested writers and a reader that checks every byte. Usage:
// ring_bench [RECORDS [WRITERS]]; the exit status is 1 if a record was torn, out of order, or lost
// without a report.
#include <fmt/format.h>

#include <cstdlib>

#include "ring_storm.h"

int main(int argc, char** argv) {
  test_support::StormPlan plan;
  plan.records = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 1'000'000'000;
  plan.writers = argc > 2 ? static_cast<unsigned>(std::strtoul(argv[2], nullptr, 10)) : 2;
  plan.ring_bytes = 256 << 10;
  plan.calm = 1024;  // otherwise only the signals are measured
  if (plan.records == 0 || plan.writers == 0) {
    fmt::print(stderr, "usage: ring_bench [RECORDS [WRITERS]], both at least 1\n");
    return 255;
  }
  const test_support::StormResult result = test_support::continuous_storm(plan);
  const bool exact = result.read + result.lost == result.attempted &&
                     result.lost == result.lost_reported && result.lost == result.counted_lost &&
                     result.attempted == result.counted_produced;
  fmt::print("{} writers, rings of {} KB, {:.1f} s, {:.1f} million records/s\n", plan.writers,
             plan.ring_bytes >> 10, result.seconds,
             1e-6 * static_cast<double>(result.attempted) / result.seconds);
  fmt::print("records {}, inside another {}, inside two others {}\n", result.attempted,
             result.nested, result.nested_twice);
  fmt::print("read whole {}, lost and reported {}, changes of the time's high half {}, laps {}\n",
             result.read, result.lost, result.time_records, result.laps);
  if (result.problems != 0)
    fmt::print("{} problems, the first: {}\n", result.problems, result.first_problem);
  else if (!exact)
    fmt::print("the numbers do not add up: reported {}, counted as lost {}, as produced {}\n",
               result.lost_reported, result.counted_lost, result.counted_produced);
  return result.problems != 0 || !exact;
}
