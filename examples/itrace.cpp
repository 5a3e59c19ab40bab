// SPDX-License-Identifier: MIT
// The C++ version of itrace.c: a region of each of two threads is traced, also when an exception
// leaves the region.
#include <algorithm>
#include <cstdio>
#include <stdexcept>
#include <thread>
#include <vector>

#include <perfutil.hpp>

namespace {

// Sorts inside the region; with fail an exception leaves the region early.
bool sort(std::vector<int>& numbers, bool fail) {
  const pitrace::ITraceRegion region;
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
  if (const auto ready = pitrace::ITraceRegion::prepare(); !ready) {
    std::fprintf(stderr, "itrace: %s\n", ready.error().text().c_str());
    return 1;
  }
  std::thread first(work, false);
  first.join();
  std::thread second(work, true);
  second.join();
  return 0;
}
