// SPDX-License-Identifier: MIT
// As itrace.c, in C++: the instructions of a region are followed, on each of two threads, also
// when the region is left by an exception.
#include <algorithm>
#include <cstdio>
#include <stdexcept>
#include <thread>
#include <vector>

#include <perfutil.hpp>

namespace {

// Sorts in the region, and leaves it early when it is told to.
bool sort(std::vector<int>& numbers, bool fail) {
  const pi::ITraceRegion region;
  if (fail) throw std::runtime_error("left early");
  std::sort(numbers.begin(), numbers.end());
  return static_cast<bool>(region);
}

void work(bool fail) {
  std::vector<int> numbers{5, 3, 8, 1, 9, 2, 7};
  try {
    if (!sort(numbers, fail)) std::fprintf(stderr, "itrace: %s\n", PiErrorText());
    std::printf("sorted: %d to %d\n", numbers.front(), numbers.back());
  } catch (const std::runtime_error& problem) {
    std::printf("%s\n", problem.what());
  }
}

}  // namespace

int main() {
  if (ITraceEnableCurrent() != PU_SUCCESS) {
    std::fprintf(stderr, "itrace: %s\n", PiErrorText());
    return 1;
  }
  std::thread first(work, false);
  first.join();
  std::thread second(work, true);
  second.join();
  return 0;
}
