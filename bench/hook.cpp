// SPDX-License-Identifier: MIT
// The cost of a user hook for its caller, compared with LTTng-UST with the same payload.
// bench/hook.sh starts the two tracers and runs this program.
//
// Each iteration writes a batch that fits into the ring many times over, then lets the reader catch
// up outside the measured time, so that storing a record is measured, not losing it. The time is
// the thread's CPU time, so that other work on the machine does not count.
#include <benchmark/benchmark.h>
#include <time.h>

#include <chrono>
#include <thread>

#include "perfutil.h"
#ifdef PITRACE_BENCH_LTTNG
#include "hook_lttng.h"
#endif

namespace {

constexpr uint32_t enabled_major = 0x30, disabled_major = 0x31;
constexpr int batch = 1000;

double processor_seconds() {
  timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

template <class Call>
void measure(benchmark::State& state, Call call, bool pause) {
  int bad = 0;
  for (auto _ : state) {
    const double begin = processor_seconds();
    for (uint32_t i = 0; i < batch; ++i) bad |= call(i);
    state.SetIterationTime(processor_seconds() - begin);
    if (pause) std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  if (bad != 0) state.SkipWithError(RcToString(bad));
  state.counters["ns_each"] = benchmark::Counter(
      batch, benchmark::Counter::kIsIterationInvariantRate | benchmark::Counter::kInvert);
}

int ints(uint32_t major, uint32_t i) {
  return TraceHook(major, 1, 4, 0, i, 1u, 2u, 3u);
}

void clock_alone(benchmark::State& state) {
  measure(
      state,
      [](uint32_t) {
        timespec now;
        return clock_gettime(CLOCK_MONOTONIC, &now);
      },
      false);
}
BENCHMARK(clock_alone)->UseManualTime();

void hook_disabled(benchmark::State& state) {
  measure(
      state, [](uint32_t i) { return ints(disabled_major, i); }, false);
}
BENCHMARK(hook_disabled)->UseManualTime();

void hook_4_ints(benchmark::State& state) {
  measure(
      state, [](uint32_t i) { return ints(enabled_major, i); }, true);
}
BENCHMARK(hook_4_ints)->UseManualTime()->Iterations(1000);

void hook_4_ints_array(benchmark::State& state) {
  measure(
      state,
      [](uint32_t i) {
        const uint32_t values[] = {i, 1, 2, 3};
        return PiTraceHook(enabled_major, 1, values, 4, nullptr, 0);
      },
      true);
}
BENCHMARK(hook_4_ints_array)->UseManualTime()->Iterations(1000);

void hook_4_ints_and_string(benchmark::State& state) {
  measure(
      state,
      [](uint32_t i) {
        return TraceHook(enabled_major, 1, 4, 1, i, 1u, 2u, 3u, 13u, "a name of 13b");
      },
      true);
}
BENCHMARK(hook_4_ints_and_string)->UseManualTime()->Iterations(1000);

#ifdef PITRACE_BENCH_LTTNG
void lttng_disabled(benchmark::State& state) {
  measure(
      state, [](uint32_t i) { return bench_lttng_other(i), 0; }, false);
}
BENCHMARK(lttng_disabled)->UseManualTime();

void lttng_4_ints(benchmark::State& state) {
  measure(
      state, [](uint32_t i) { return bench_lttng_ints(i), 0; }, true);
}
BENCHMARK(lttng_4_ints)->UseManualTime()->Iterations(1000);

void lttng_4_ints_and_string(benchmark::State& state) {
  measure(
      state, [](uint32_t i) { return bench_lttng_string(i), 0; }, true);
}
BENCHMARK(lttng_4_ints_and_string)->UseManualTime()->Iterations(1000);
#endif

}  // namespace

BENCHMARK_MAIN();
