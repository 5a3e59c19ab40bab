// SPDX-License-Identifier: MIT
// Processor time in multiples of a reference workload, for tests that bound the cost of an input.
#ifndef TEST_SUPPORT_EFFORT_H
#define TEST_SUPPORT_EFFORT_H

#include <ctime>
#include <map>
#include <string>

namespace test_support {

// Processor time of this process, in seconds. Unlike the clock on the wall it does not count the
// time in which other processes run.
inline double processor_seconds() {
  timespec now;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

// The processor time, in seconds, of the reference workload: a map of 20,000 strings is built and
// destroyed. A slow or busy processor and a sanitizer slow it down as they do the code under test.
inline double reference_seconds() {
  const double begin = processor_seconds();
  {
    std::map<std::string, int> names;
    for (int i = 0; i < 20'000; ++i)
      names["a name of usual length " + std::to_string(i * 7919)] = i;
  }
  return processor_seconds() - begin;
}

// Processor time since construction.
class Effort {
 public:
  // In multiples of the reference workload. Its larger time counts, of one run before and one run
  // after what is measured.
  double spent() const {
    const double seconds = processor_seconds() - begin_;
    const double after = reference_seconds();
    return seconds / (before_ > after ? before_ : after);
  }

 private:
  const double before_ = reference_seconds();
  const double begin_ = processor_seconds();
};

}  // namespace test_support

#endif  // TEST_SUPPORT_EFFORT_H
