// SPDX-License-Identifier: MIT
// How each kind of meter is read: straight-line code, inlined into its probes.
#ifndef PI_CALLFLOW_METER_READS_H
#define PI_CALLFLOW_METER_READS_H

#include <time.h>

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "meter.h"

namespace pi::callflow {

// The function of the kinds with a reader, and how many values it reads; set before their probes.
extern std::atomic<Reader> meter_reader;
extern std::atomic<size_t> reader_values;

// Volatile assembly keeps its order among the loads and stores of an event; like libperfutil's
// readers it does not wait for earlier instructions, which would cost as much as the probe.
[[gnu::always_inline]] inline uint64_t cycles_now() {
  uint32_t low, high;
  __asm__ volatile("rdtsc" : "=a"(low), "=d"(high) : : "memory");
  return uint64_t{high} << 32 | low;
}

// read() writes values and returns 0, or another number if there are none.
struct ReadNothing {
  static constexpr MeterKind kind = MeterKind::none;
  static int read(uint64_t*) { return 1; }
};

struct ReadCycles {
  static constexpr MeterKind kind = MeterKind::raw_cycles;
  [[gnu::always_inline]] static int read(uint64_t* values) {
    values[0] = cycles_now();
    return 0;
  }
};

struct ReadClock {
  static constexpr MeterKind kind = MeterKind::thread_clock;
  [[gnu::always_inline]] static int read(uint64_t* values) {
    timespec now;
    const int failed = ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    values[0] = static_cast<uint64_t>(now.tv_sec) * 1000000000 + static_cast<uint64_t>(now.tv_nsec);
    return failed;
  }
};

struct ReadByFunction {
  static constexpr MeterKind kind = MeterKind::reader;
  [[gnu::always_inline]] static int read(uint64_t* values) {
    return meter_reader.load(std::memory_order_relaxed)(values);
  }
};

struct ReadByFunctionAndCycles {
  static constexpr MeterKind kind = MeterKind::reader_and_raw_cycles;
  [[gnu::always_inline]] static int read(uint64_t* values) {
    const int failed = meter_reader.load(std::memory_order_relaxed)(values);
    values[reader_values.load(std::memory_order_relaxed)] = cycles_now();
    return failed;
  }
};

}  // namespace pi::callflow

#endif  // PI_CALLFLOW_METER_READS_H
