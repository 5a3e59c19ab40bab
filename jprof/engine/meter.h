// SPDX-License-Identifier: MIT
// What is measured at each event.
#ifndef PI_CALLFLOW_METER_H
#define PI_CALLFLOW_METER_H

#include <cstdint>
#include <string>
#include <vector>

#include <pitrace/ptt_data.h>

namespace pi::callflow {

enum class MeterKind : uint8_t {
  none,                   // calls only
  raw_cycles,             // the time-stamp counter
  thread_clock,           // CLOCK_THREAD_CPUTIME_ID, nanoseconds
  reader,                 // values of a function
  reader_and_raw_cycles,  // and after them the time-stamp counter
};

// Reads the calling thread's counts so far into values, as many as the metrics of kind reader, and
// returns 0, or another number: no value is known, and values are ignored. Called at each event: it
// must be async-signal-safe and must not have an instrumented callee. It is
// PttReturnGetCurrentThreadDataFunctionPtr()'s type.
using Reader = int (*)(uint64_t* values);

struct Metric {
  std::string name;       // the column's: RAW_CYCLES, PTT_INSTS
  std::string unit;       // cycles, nanoseconds, events
  bool is_exact = false;  // the events themselves add nothing to it
};

struct Meter {
  MeterKind kind = MeterKind::none;
  std::vector<Metric> metrics;  // as many as values are read, at most max_metrics
  Reader reader = nullptr;      // of the kinds with a reader

  // Called in each thread before its first read; may be null. Its result, which may be null, is
  // where the module counts the thread's dispatches and interrupts (PiPttSlot()). Called inside an
  // event: it may allocate, but its callees must not wait for the interrupted code.
  const pitrace_ptt_slot* (*begin_thread)() = nullptr;
};

Meter no_metrics();
Meter raw_cycles();
Meter thread_clock();

}  // namespace pi::callflow

#endif  // PI_CALLFLOW_METER_H
