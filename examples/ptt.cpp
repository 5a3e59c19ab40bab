// SPDX-License-Identifier: MIT
// The C++ version of ptt.c: the cost of a function for its thread, summed over many calls.
#include <cstdio>

#include <perfutil.hpp>

namespace {

double work(const pitrace::PttThread& thread, pitrace::PttTotals& totals) {
  const pitrace::PttRegion region(thread, totals);
  double sum = 0;
  for (int i = 1; i <= 1000; i++) sum += 1.0 / i;
  return sum;
}

int failed(const pitrace::Error& error) {
  std::fprintf(stderr, "ptt: %s\n", error.text().c_str());
  return 1;
}

}  // namespace

int main() {
  const auto ptt = pitrace::Ptt::create({"CYCLES"});
  if (!ptt) return failed(ptt.error());
  const auto thread = pitrace::PttThread::create();
  if (!thread) return failed(thread.error());
  const auto state = ptt->state();
  if (!state) return failed(state.error());

  pitrace::PttTotals totals;
  double sum = 0;
  for (int i = 0; i < 100; i++) sum += work(*thread, totals);
  std::printf("%llu calls gave %.3f and took %llu %s of this thread\n",
              static_cast<unsigned long long>(totals.regions), sum,
              static_cast<unsigned long long>(totals.values[0]), state->unit[0]);
  return totals.failed != 0;
}
