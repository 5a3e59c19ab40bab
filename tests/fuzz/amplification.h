// SPDX-License-Identifier: MIT
// Measures memory and time of an input: excessive cost is a finding like a crash.
#ifndef TESTS_FUZZ_AMPLIFICATION_H
#define TESTS_FUZZ_AMPLIFICATION_H

#include <cstddef>
#include <cstdint>

namespace fuzz {

// Allowed cost: floor for any input, plus factor for each of its bytes.
struct Allowed {
  uint64_t heap_floor;  // bytes
  uint64_t heap_factor;
  uint64_t time_floor;  // microseconds of processor time, with sanitizers
  uint64_t time_factor;
};

// Measures from construction to destruction; ends the program with a message when either cost
// exceeds the allowance. The heap's peak includes allocations of C libraries.
class Amplification {
 public:
  Amplification(size_t input, const Allowed& allowed);
  ~Amplification();
  Amplification(const Amplification&) = delete;
  Amplification& operator=(const Amplification&) = delete;

 private:
  const size_t input_;
  const Allowed allowed_;
  const uint64_t begun_;  // microseconds
};

}  // namespace fuzz

#endif  // TESTS_FUZZ_AMPLIFICATION_H
