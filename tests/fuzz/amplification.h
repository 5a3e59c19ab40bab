// SPDX-License-Identifier: MIT
// What an input costs, against its size: an input that costs too much is a finding like a crash.
#ifndef TESTS_FUZZ_AMPLIFICATION_H
#define TESTS_FUZZ_AMPLIFICATION_H

#include <cstddef>
#include <cstdint>

namespace fuzz {

// So much for any input, and so much more for each of its bytes.
struct Allowed {
  uint64_t heap_floor;  // bytes
  uint64_t heap_factor;
  uint64_t time_floor;  // microseconds of processor time, with sanitizers
  uint64_t time_factor;
};

// Measures from its beginning to its end; ends the program with a message when either is more than
// is allowed. The heap's peak counts what libraries in C allocate, too.
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
