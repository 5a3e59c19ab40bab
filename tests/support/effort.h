// SPDX-License-Identifier: MIT
// CPU time in multiples of a reference workload, for tests that bound the cost of an input.
#ifndef TEST_SUPPORT_EFFORT_H
#define TEST_SUPPORT_EFFORT_H

#include <ctime>
#include <map>
#include <string>

namespace test_support {

// CPU time of this process, in seconds. Unlike wall-clock time it excludes other processes.
inline double processor_seconds() {
  timespec now;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

// CPU time of the reference workload in seconds: a map of 20,000 strings is built and destroyed. A
// slow processor or a sanitizer slows it down like the code under test.
inline double reference_seconds() {
  const double begin = processor_seconds();
  {
    std::map<std::string, int> names;
    for (int i = 0; i < 20'000; ++i)
      names["a name of usual length " + std::to_string(i * 7919)] = i;
  }
  return processor_seconds() - begin;
}

// CPU time since construction.
class Effort {
 public:
  // In multiples of the reference workload; the slower of two runs, before and after the measured
  // code, is used.
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
